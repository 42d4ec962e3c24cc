/** Crashes lose no reminder and send none twice. `deno task suite faults` runs larger forms on a server. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { assertEachOnce, countBills, type CrashPlan, crashUntilDone } from "./crashes.ts";
import { mailService } from "./harness.ts";
import { startMailCounter } from "./mail_counter.ts";

const LARGE: Record<string, CrashPlan> = {
  short: { owners: 2_000, each: 2, crashes: 30, mostInOnePlace: 8, parallel: 4, seed: 20_000 },
  long: { owners: 10_000, each: 2, crashes: 120, mostInOnePlace: 30, parallel: 4, seed: 20_000 },
};
const large = LARGE[Deno.env.get("FAULTS") ?? ""];
/** The mails that a process sends concurrently: one per connection (shared/mail/smtp_transport.ts). */
const CONNECTIONS = 4;

const database = await sharedDatabase();

/** Mails all reminders with processes that die, and checks that enough of them died. */
async function crash(plan: CrashPlan, fetchFor: Parameters<typeof crashUntilDone>[2]): Promise<void> {
  await database.reset();
  const report = await crashUntilDone(database, plan, fetchFor);
  assertEquals(report.crashes, plan.crashes);
  if (!large) return;
  assert(Object.keys(report.places).length >= 4, "they died in several places");
  const line = `${plan.owners * plan.each} reminders, ${report.runs} runs, crashes: ${JSON.stringify(report.places)}\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}

/** A mail service for processes that may die after it accepted their mails. */
function mailsOfTheDying(headersOf = (init?: RequestInit) => new Headers(init?.headers)) {
  const mail = mailService();
  const fetchFor: Parameters<typeof crashUntilDone>[2] = (process) => async (input, init) => {
    process.check();
    if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const response = await mail.fetch(input, { ...init, headers: headersOf(init) });
    process.mayDie("taken, before the answer");
    return response;
  };
  return { delivered: mail.delivered, fetchFor };
}

Deno.test("every reminder is delivered exactly once by a mail service with idempotency keys", async () => {
  const plan = large ?? { owners: 210, each: 2, crashes: 15, parallel: 2, seed: 7 };
  const { delivered, fetchFor } = mailsOfTheDying();
  await crash(plan, fetchFor);
  assertEachOnce(delivered.map(({ text }) => text), plan);
});

Deno.test("every reminder to a second recipient is delivered exactly once, and neither delays the other", async () => {
  const plan = {
    ...(large ? { ...large, owners: large.owners / 2 } : { owners: 110, each: 2, crashes: 12, parallel: 2, seed: 5 }),
    members: true,
  };
  const { delivered, fetchFor } = mailsOfTheDying();
  await crash(plan, fetchFor);
  for (const role of ["owner", "member"]) {
    assertEachOnce(delivered.filter(({ to }) => to.startsWith(role)).map(({ text }) => text), plan);
  }
});

Deno.test(
  "test of the test: with a new key for every attempt, reminders arrive twice",
  { ignore: !!large },
  async () => {
    const { delivered, fetchFor } = mailsOfTheDying((init) => {
      const headers = new Headers(init?.headers);
      headers.set("idempotency-key", crypto.randomUUID());
      return headers;
    });
    await crash({ owners: 120, each: 1, crashes: 8, parallel: 1, seed: 3 }, fetchFor);
    assert([...countBills(delivered.map(({ text }) => text)).values()].some((count) => count > 1));
  },
);

// Connections of a pool that was closed early end a moment later.
Deno.test("over SMTP no reminder is lost, and repeats have the same Message-ID", {
  sanitizeOps: false,
  sanitizeResources: false,
}, async () => {
  const server = await startMailCounter();
  try {
    const plan = large ?? { owners: 60, each: 1, crashes: 10, parallel: 2, seed: 11 };
    await crash({ ...plan, env: { MAIL_URL: server.url } }, () => () => Promise.reject(new TypeError("no network")));
    assertEquals([server.bills.size, server.mails.size], [plan.owners * plan.each, plan.owners]);
    // A process that died after sending cannot have reported it, so such a mail is sent again unchanged.
    const repeats = [...server.mails.values()].reduce((sum, times) => sum + times - 1, 0);
    assert(repeats > 0 && repeats <= plan.crashes * CONNECTIONS, `${repeats} repeats`);
  } finally {
    await server.close();
  }
});
