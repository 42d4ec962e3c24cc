/** The long form of crash_test.ts: 20,000 reminders, a hundred processes and more that die, four at a time. */
import { assert, assertEquals } from "@std/assert";
import { openDatabase } from "../_support/database.ts";
import { assertEachOnce, crashUntilDone } from "../functions/cron-reminders/crashes.ts";
import { mailService } from "../functions/cron-reminders/harness.ts";

const isLong = Deno.env.get("FAULTS") === "long";
const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

Deno.test("20,000 reminders, and processes that die anywhere: each delivered exactly once", async () => {
  const database = await openDatabase();
  try {
    const mail = mailService();
    const plan = { owners: isLong ? 10_000 : 2_000, each: 2, crashes: isLong ? 120 : 30, parallel: 4, seed: 20_000 };
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
    print(
      `${
        plan.owners * plan.each
      } reminders in ${mail.delivered.length} mails; ${report.crashes} crashes in ${report.runs} runs: ` +
        `${JSON.stringify(report.places)}; ${mail.calls.length} calls of the mail service; heap ${
          Math.round((Deno.memoryUsage().heapUsed - before) / 2 ** 20)
        } MiB more, mails kept`,
    );
  } finally {
    await database.close();
  }
});
