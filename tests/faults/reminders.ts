/** The long form of crash_test.ts: 20,000 reminders, and a hundred or more processes that die, four at a time. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { assertEachOnce, type CrashReport, crashUntilDone } from "../functions/cron-reminders/crashes.ts";
import { mailService } from "../functions/cron-reminders/harness.ts";
import { startMailCounter } from "../functions/cron-reminders/mail_counter.ts";

const isLong = Deno.env.get("FAULTS") === "long";
const plan = isLong
  ? { owners: 10_000, each: 2, crashes: 120, mostInOnePlace: 30, parallel: 4, seed: 20_000 }
  : { owners: 2_000, each: 2, crashes: 30, mostInOnePlace: 8, parallel: 4, seed: 20_000 };
const shared = { ...plan, owners: plan.owners / 2, members: true };
const reminders = plan.owners * plan.each;
/** The mails that a process sends concurrently: one per connection (shared/mail/smtp_transport.ts). */
const CONNECTIONS = 4;

const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
const told = ({ crashes, runs, places }: CrashReport) =>
  `${crashes} crashes in ${runs} runs: ${JSON.stringify(places)}`;

const database = await sharedDatabase();

Deno.test(`${reminders} reminders, and processes that die anywhere: each delivered exactly once`, async () => {
  await database.reset();
  const mail = mailService();
  const before = Deno.memoryUsage().heapUsed;
  const report = await crashUntilDone(database, plan, (process) => async (input, init) => {
    process.check();
    if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const response = await mail.fetch(input, init);
    process.mayDie("taken, before the answer");
    return response;
  });
  assertEquals(report.crashes, plan.crashes);
  assert(Object.keys(report.places).length >= 4, "they died in several places");
  assertEachOnce(mail.delivered.map(({ text }) => text), plan);
  const grown = Math.round((Deno.memoryUsage().heapUsed - before) / 2 ** 20);
  print(
    `${reminders} reminders in ${mail.delivered.length} mails; ${
      told(report)
    }; ${mail.calls.length} calls of the mail ` +
      `service; heap ${grown} MiB more, mails kept`,
  );
});

Deno.test(`${reminders} reminders to owners and members, and processes that die: each recipient gets each exactly once`, async () => {
  await database.reset();
  const mail = mailService();
  const report = await crashUntilDone(database, shared, (process) => async (input, init) => {
    process.check();
    if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const response = await mail.fetch(input, init);
    process.mayDie("taken, before the answer");
    return response;
  });
  assertEquals(report.crashes, shared.crashes);
  for (const role of ["owner", "member"]) {
    assertEachOnce(mail.delivered.filter(({ to }) => to.startsWith(role)).map(({ text }) => text), shared);
  }
  print(`${reminders} reminders, half of them to members; ${told(report)}`);
});

Deno.test(`${reminders} reminders over SMTP, and processes that die anywhere: none is lost`, {
  sanitizeOps: false,
  sanitizeResources: false,
}, async () => {
  await database.reset();
  const server = await startMailCounter();
  try {
    const withServer = { ...plan, env: { MAIL_URL: server.url } };
    const report = await crashUntilDone(database, withServer, () => () => Promise.reject(new TypeError("no network")));
    assertEquals(report.crashes, plan.crashes);
    assert(Object.keys(report.places).length >= 4, "they died in several places");
    // If a process dies after sending a mail, it has not reported it, so another run sends the same mail again.
    assertEquals([server.bills.size, server.mails.size], [reminders, plan.owners]);
    const sent = [...server.mails.values()].reduce((sum, times) => sum + times, 0);
    assert(sent - server.mails.size <= plan.crashes * CONNECTIONS, "no more duplicates than concurrent sends");
    print(`${reminders} reminders in ${server.mails.size} mails over SMTP, ${sent} taken; ${told(report)}`);
  } finally {
    await server.close();
  }
});
