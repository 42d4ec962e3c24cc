/** Crashes lose no reminder and send none twice. The long form is tests/faults/reminders.ts. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { assertEachOnce, countBills, crashUntilDone } from "./crashes.ts";
import { mailService } from "./harness.ts";
import { startMailCounter } from "./mail_counter.ts";

const database = await sharedDatabase();

Deno.test("every reminder is delivered exactly once by a mail service with idempotency keys", async () => {
  await database.reset();
  const mail = mailService();
  const plan = { owners: 210, each: 2, crashes: 15, parallel: 2, seed: 7 };
  const report = await crashUntilDone(database, plan, (process) => async (input, init) => {
    process.check();
    const url = String(input);
    if (!url.startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const response = await mail.fetch(input, init);
    process.mayDie("taken, before the answer");
    return response;
  });
  assertEquals(report.crashes, plan.crashes);
  assertEachOnce(mail.delivered.map(({ text }) => text), plan);
});

Deno.test("every reminder to a further recipient is delivered exactly once, and neither delays the other", async () => {
  await database.reset();
  const mail = mailService();
  const plan = { owners: 110, each: 2, members: true, crashes: 12, parallel: 2, seed: 5 };
  const report = await crashUntilDone(database, plan, (process) => async (input, init) => {
    process.check();
    if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const response = await mail.fetch(input, init);
    process.mayDie("taken, before the answer");
    return response;
  });
  assertEquals(report.crashes, plan.crashes);
  for (const role of ["owner", "member"]) {
    const texts = mail.delivered.filter(({ to }) => to.startsWith(role)).map(({ text }) => text);
    assertEachOnce(texts, plan);
  }
});

Deno.test("test of the test: with a new key for every attempt reminders come twice", async () => {
  await database.reset();
  const mail = mailService();
  const plan = { owners: 120, each: 1, crashes: 8, parallel: 1, seed: 3 };
  await crashUntilDone(database, plan, (process) => async (input, init) => {
    process.check();
    if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const headers = new Headers(init?.headers);
    headers.set("idempotency-key", crypto.randomUUID());
    const response = await mail.fetch(input, { ...init, headers });
    process.mayDie("taken, before the answer");
    return response;
  });
  assert([...countBills(mail.delivered.map(({ text }) => text)).values()].some((count) => count > 1));
});

// Connections of a pool that was closed early end a moment later.
Deno.test("over SMTP no reminder is lost, and repeats have the same Message-ID", {
  sanitizeOps: false,
  sanitizeResources: false,
}, async () => {
  await database.reset();
  const server = await startMailCounter();
  try {
    const plan = { owners: 60, each: 1, crashes: 10, parallel: 2, seed: 11, env: { MAIL_URL: server.url } };
    const report = await crashUntilDone(database, plan, () => () => Promise.reject(new TypeError("no network")));
    assertEquals(report.crashes, plan.crashes);
    assertEquals([server.bills.size, server.mails.size], [plan.owners, plan.owners]);
    assert([...server.mails.values()].some((times) => times > 1), "a crash after sending was among them");
  } finally {
    await server.close();
  }
});
