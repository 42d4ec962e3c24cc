/** Faults of the mail service and their effects on reminders. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { assertEachOnce } from "./crashes.ts";
import { addDueBills } from "./due_bills.ts";
import { asDatabase, createJob, mailService, withRates } from "./harness.ts";

const database = await sharedDatabase();

const START = Date.parse("2026-11-20T08:00:00Z");

/** A few owners with a bill each, a mail service, and a job whose clock moves in minutes. */
async function setUp(owners: number) {
  await database.reset();
  await addDueBills(database, { owners, each: 1, today: "2026-11-20" });
  const mail = mailService();
  const clock = { minutes: 0 };
  const job = createJob({
    database: asDatabase(database),
    fetch: withRates(mail.fetch),
    now: () => new Date(START + clock.minutes * 60_000),
  });
  const problems = (answer: { errors: { stage: string; code: string; count: number }[] }) =>
    Object.fromEntries(
      answer.errors.filter(({ stage }) => stage === "reminders").map(({ code, count }) => [code, count]),
    );
  return {
    mail,
    run: async (minutes = 0) => {
      clock.minutes += minutes;
      const answer = await job.run();
      return { sent: answer.remindersSent, ok: answer.ok, problems: problems(answer) };
    },
    assertEachOnce: () => assertEachOnce(mail.delivered.map(({ text }) => text), { owners, each: 1 }),
    states: async () =>
      Object.fromEntries(
        (await database.query<{ status: string; count: number }>(
          "select status, count(*)::int as count from jobs.reminder_digests group by 1",
        )).map(({ status, count }) => [status, count]),
      ),
  };
}

Deno.test("one bad address among a hundred blocks nothing, is marked, and is not retried", async () => {
  const { mail, run, states } = await setUp(100);
  mail.bad.add("owner42@example.com");
  assertEquals(await run(), { sent: 99, ok: true, problems: { address_refused: 1 } });
  assertEquals(await states(), { dead: 1, sent: 99 });
  assertEquals(
    await database.query(
      "select refused_email, refused_at is not null as dated from identity.profiles where refused_email is not null",
    ),
    [{ refused_email: "owner42@example.com", dated: true }],
  );
  assertEquals(
    await database.query("select count(*)::int as count from jobs.reminder_log where voided_at is not null"),
    [{ count: 1 }],
  );
  // The reminder can be sent again, so it arrives the day after the owner changes the address.
  assertEquals((await run(24 * 60)).sent, 0);
  await database.query("update identity.profiles set email = 'new42@example.com' where refused_email is not null");
  assertEquals(await run(24 * 60), { sent: 1, ok: true, problems: {} });
  assertEquals(mail.delivered.at(-1)!.to, "new42@example.com");
});

Deno.test("a mail service that refuses whole calls for one bad address gets each mail alone", async () => {
  const { mail, run } = await setUp(30);
  mail.bad.add("owner7@example.com");
  mail.isStrict = true;
  assertEquals((await run()).sent, 0);
  const answers = [await run(2), await run(2)];
  assertEquals(answers.reduce((sum, { sent }) => sum + sent, 0), 29);
  assertEquals(answers[0]!.problems.address_refused, 1);
});

Deno.test("after a 429 the run keeps the requested pause and sends nothing twice", async () => {
  const { mail, run, assertEachOnce } = await setUp(150);
  mail.before = () =>
    mail.calls.length === 2 ? Response.json({}, { status: 429, headers: { "retry-after": "900" } }) : undefined;
  assertEquals(await run(), { sent: 100, ok: true, problems: { mail_rate_limited: 50, left_for_next_run: 50 } });
  assertEquals(mail.calls.length, 2);
  assertEquals((await run(14)).sent, 0);
  assertEquals(mail.calls.length, 2);
  assertEquals((await run(2)).sent, 50);
  assertEachOnce();
});

Deno.test("after a 500 the run sends the same batch again under the same key", async () => {
  const { mail, run, assertEachOnce } = await setUp(40);
  mail.before = () => mail.calls.length === 1 ? new Response("", { status: 500 }) : undefined;
  assertEquals((await run()).problems, { mail_unavailable: 40, left_for_next_run: 40 });
  assertEquals((await run(2)).sent, 40);
  assertEquals(mail.calls.map(({ key }) => key)[0], mail.calls[1]!.key);
  assertEquals(mail.calls[0]!.mails, mail.calls[1]!.mails);
  assertEachOnce();
});

Deno.test("a service that accepts the mails and then drops the connection delivers them once", async () => {
  const { mail, run, assertEachOnce } = await setUp(40);
  mail.after = () => mail.calls.length === 1 ? new TypeError("connection reset") : undefined;
  assertEquals((await run()).problems, { mail_no_answer: 40, left_for_next_run: 40 });
  assertEquals(mail.delivered.length, 40);
  assertEquals((await run(2)).sent, 40);
  assertEachOnce();
});

Deno.test("a batch that may have arrived is resent unchanged, even if a bill was paid in the meantime", async () => {
  const { mail, run, assertEachOnce } = await setUp(3);
  mail.after = () => mail.calls.length === 1 ? new Response("", { status: 504 }) : undefined;
  await run();
  await database.query("update app.expense_occurrences set status = 'paid', closed_at = now()");
  assertEquals((await run(2)).sent, 3);
  assertEquals(mail.calls[0]!.mails, mail.calls[1]!.mails);
  assertEachOnce();
});

Deno.test("a batch that certainly did not arrive is rebuilt, and is empty once the bill is paid", async () => {
  const { mail, run, states } = await setUp(3);
  mail.before = () => mail.calls.length === 1 ? Response.json({}, { status: 429 }) : undefined;
  await run();
  await database.query(
    "update app.expense_occurrences set status = 'paid', closed_at = now() where expense_id like '%0001'",
  );
  assertEquals((await run(2)).sent, 0);
  assertEquals(await states(), {});
  assertEquals(mail.delivered, []);
});

const rowOfSending = async () =>
  (await database.query(
    "select status, error_code from jobs.job_runs where stage = 'reminders' order by id desc limit 1",
  ))[0];

Deno.test("a service that never responds costs a run three attempts, and the run ends in time", async () => {
  const { mail, run, assertEachOnce } = await setUp(300);
  let hanging = true;
  let attempts = 0;
  const job = createJob({
    database: asDatabase(database),
    fetch: withRates((input, init) => {
      if (!hanging) return mail.fetch(input, init);
      attempts++;
      assert(init!.signal instanceof AbortSignal);
      return Promise.reject(new DOMException("no answer in time", "TimeoutError"));
    }),
    now: () => new Date(START),
    // Each attempt takes as long as the limit of a call.
    elapsed: () => attempts * 10_000,
  });
  const answer = await job.run();
  assertEquals(attempts, 3);
  assertEquals(answer.remindersSent, 0);
  assertEquals(answer.ok, true);
  // The job did part of its work, but its row must alert the monitor.
  assertEquals(await rowOfSending(), { status: "failed", error_code: "mail_no_answer" });
  hanging = false;
  assertEquals((await run(10)).sent, 300);
  assertEachOnce();
  assertEquals(await rowOfSending(), { status: "ok", error_code: null });
});

Deno.test("a wrong mail service key keeps everything for later", async () => {
  const { mail, run, assertEachOnce } = await setUp(120);
  mail.before = () => mail.calls.length < 2 ? Response.json({}, { status: 401 }) : undefined;
  assertEquals((await run()).problems, { mail_not_allowed: 100, left_for_next_run: 120 });
  assertEquals((await run(61)).sent, 120);
  assertEachOnce();
});

Deno.test("a digest that was certainly never sent is replaced by the next day's", async () => {
  const { mail, run, assertEachOnce } = await setUp(5);
  mail.before = () => mail.calls.length === 1 ? Response.json({}, { status: 429 }) : undefined;
  await run();
  assertEquals((await run(24 * 60)).sent, 5);
  assert(mail.delivered.every(({ subject }) => subject.endsWith(" is due on Mon, 23 Nov")));
  assertEachOnce();
});

Deno.test("a digest that may have arrived is abandoned after a day, and its reminder is free again", async () => {
  const { mail, run, states } = await setUp(2);
  mail.before = () => mail.calls.length < 6 ? new Response("", { status: 500 }) : undefined;
  await run();
  for (let hour = 0; hour < 4; hour++) await run(120);
  assertEquals((await run(16 * 60)).problems.mail_given_up, 2);
  assertEquals(await states(), { unknown: 2, sent: 2 });
});

Deno.test("a batch of unknown outcome that is then refused as a whole is split up", async () => {
  const { mail, run } = await setUp(30);
  mail.bad.add("owner7@example.com");
  mail.isStrict = true;
  mail.before = () => mail.calls.length === 1 ? new Response("", { status: 500 }) : undefined;
  assertEquals((await run()).sent, 0);
  const answers = [await run(2), await run(5), await run(5)];
  assertEquals(answers.reduce((sum, { sent }) => sum + sent, 0), 29);
});

Deno.test("when a batch's outcome cannot be saved, the others are sent, and it is resent unchanged", async () => {
  await database.reset();
  await addDueBills(database, { owners: 250, each: 1, today: "2026-11-20" });
  const mail = mailService();
  const own = asDatabase(database);
  let isBroken = true;
  let minutes = 0;
  const { run } = createJob({
    database: {
      call(name, args) {
        if (name !== "settle_reminders" || !isBroken) return own.call(name, args);
        isBroken = false;
        return Promise.reject(new Error("planted"));
      },
    },
    fetch: withRates(mail.fetch),
    now: () => new Date(START + minutes * 60_000),
  });
  const first = await run();
  assertEquals([first.ok, first.digestsSent], [true, 150]);
  assertEquals(first.errors.find(({ code }) => code === "not_settled")?.count, 1);
  minutes = 5;
  assertEquals((await run()).digestsSent, 100);
  assertEachOnce(mail.delivered.map(({ text }) => text), { owners: 250, each: 1 });
});

Deno.test("two concurrent runs share the work", async () => {
  const { mail, run, assertEachOnce } = await setUp(250);
  const answers = await Promise.all([run(), run(), run()]);
  assertEquals(answers.reduce((sum, { sent }) => sum + sent, 0), 250);
  assertEachOnce();
  assertEquals((await run()).sent, 0);
  // No mail was sent twice, and batches remained whole: three at best, a few more if a run skipped another run's
  // digests.
  assertEquals(mail.calls.flatMap(({ mails }) => mails).length, 250);
  assert(mail.calls.length >= 3 && mail.calls.length < 25, `${mail.calls.length} calls`);
});
