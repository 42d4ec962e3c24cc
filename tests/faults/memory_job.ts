/**
 * One process that runs the job for all due bills and reports its memory: a line of JSON with heap and resident set in
 * MiB, after a tenth of the reminders and at the end. With `--keep`, it keeps every page and mail, like a job that
 * collects everything before sending.
 */
import { openDatabase } from "../_support/database.ts";
import { addDueBills } from "../functions/cron-reminders/due_bills.ts";
import { asDatabase, createJob } from "../functions/cron-reminders/harness.ts";

const [owners, each] = Deno.args.map(Number) as [number, number];
const keeps = Deno.args.includes("--keep");
const kept: unknown[] = [];
const keep = <Value>(value: Value): Value => {
  if (keeps) kept.push(value);
  return value;
};

interface Sample {
  reminders: number;
  heap: number;
  resident: number;
}

const { gc } = globalThis as unknown as { gc(): void };
const sample = (reminders: number): Sample => {
  gc();
  const { heapUsed, rss } = Deno.memoryUsage();
  return { reminders, heap: heapUsed / 2 ** 20, resident: rss / 2 ** 20 };
};

const database = await openDatabase();
await addDueBills(database, { owners, each, today: "2026-11-20" });
const calls = asDatabase(database);
let sent = 0;
let early: Sample | undefined;
const job = createJob({
  database: {
    async call(name, args) {
      const answer = keep(await calls.call(name, args));
      if (name === "settle_reminders") sent += (answer as { reminders: number }).reminders;
      if (!early && sent >= owners * each / 10) early = sample(sent);
      return answer;
    },
  },
  async fetch(input, init) {
    if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("no network");
    const mails = JSON.parse(keep(await new Request(input, init).text())) as unknown[];
    return Response.json({ data: mails.map(() => ({ id: crypto.randomUUID() })) });
  },
  now: () => new Date("2026-11-20T08:00:00Z"),
});
// A run ends after its time limit, and the next run continues.
for (let left = true; left;) left = (await job.run()).errors.some(({ code }) => code === "left_for_next_run");
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ early, late: sample(sent) })}\n`));
await database.close();
