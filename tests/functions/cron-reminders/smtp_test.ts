/** The job over SMTP, to a server that accepts every mail and to an absent one. */
import { assertEquals } from "@std/assert";
import { startMailSink } from "../../../local/mail/smtp_sink.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { addDueBills } from "./due_bills.ts";
import { asDatabase, createJob, ecbXml, withRates } from "./harness.ts";

const database = await sharedDatabase();

const NOW = new Date("2026-11-20T08:00:00Z");

const runOver = (port: number) =>
  createJob({
    database: asDatabase(database),
    fetch: withRates(() => Promise.reject(new Error("no mail goes out that way")), {
      ecb: () => new Response(ecbXml("2026-11-19")),
    }),
    now: () => NOW,
    env: { MAIL_URL: `smtp://127.0.0.1:${port}` },
  }).run();

// Node's sockets under Deno keep a timer for a moment after closing.
const test = (name: string, work: () => Promise<void>) =>
  Deno.test(name, { sanitizeOps: false, sanitizeResources: false }, work);

test("a run that sent every mail reports no error, in one batch or several", async () => {
  for (const owners of [1, 45]) {
    await database.reset();
    await addDueBills(database, { owners, each: 1, today: "2026-11-20" });
    const sink = await startMailSink();
    const answer = await runOver(sink.port);
    await sink.close();
    assertEquals([answer.ok, answer.digestsSent, answer.remindersSent, answer.errors], [true, owners, owners, []]);
    assertEquals(sink.list().length, owners);
  }
});

test("an absent server is the only reported error, and the digests wait", async () => {
  await database.reset();
  await addDueBills(database, { owners: 3, each: 1, today: "2026-11-20" });
  const sink = await startMailSink();
  await sink.close();
  const answer = await runOver(sink.port);
  assertEquals([answer.ok, answer.digestsSent], [true, 0]);
  assertEquals(answer.errors.map(({ code, count }) => [code, count]), [["mail_unavailable", 3], [
    "left_for_next_run",
    3,
  ]]);
});
