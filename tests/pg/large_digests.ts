/**
 * One owner has very many reminders, or a digest that can't be built. The other owners must still get their mails,
 * within the platform's time limits.
 */
import { assert, assertEquals } from "@std/assert";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { addDueBills } from "../functions/cron-reminders/due_bills.ts";
import { asDatabase, createJob, ecbXml, mailService, withRates } from "../functions/cron-reminders/harness.ts";

const TODAY = "2026-11-20";

function remindersOf(database: TestDatabase) {
  const mail = mailService();
  const clock = { at: new Date(`${TODAY}T08:00:00Z`) };
  const { run } = createJob({
    database: asDatabase(database),
    fetch: withRates(mail.fetch, { ecb: () => new Response(ecbXml(TODAY)) }),
    now: () => clock.at,
  });
  return { mail, clock, run };
}

Deno.test("an owner of thousands of bills that are overdue for a month gets a one-page mail, and others get theirs", async () => {
  await using database = await openDatabase();
  await addDueBills(database, { owners: 3, each: 4, today: TODAY });
  const more = 2000;
  await database.exec(`
    insert into app.expenses (
      id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due,
      status, reminder_enabled
    )
    select 'bill_of2' || lpad(n::text, 8, '0'), organization_id, 'bill', 'Daily ' || n, amount_mode, 1000, currency, 'daily', 1, anchor_on, 'none',
      tracked_from, next_due, status, true
    from app.expenses, generate_series(1, ${more}) as n where name = 'Bill 2.1';
    insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, expected_minor, currency)
    select e.organization_id, e.id, e.next_due - d, e.next_due - d, 1000, 'EUR'
    from app.expenses as e, unnest(array[0] || array(select generate_series(4, 34))) as d where e.name like 'Daily %';
    analyze`);
  const { mail, run } = remindersOf(database);
  const answer = await run();
  assertEquals([answer.digestsSent, answer.remindersSent, answer.errors], [3, 3 * 4 + more, []]);
  const { text, html, subject } = mail.delivered.find(({ to }) => to === "owner2@example.com")!;
  assertEquals(
    subject,
    `${more + 4} bills due this week, ${more} overdue`,
  );
  assertEquals(text.match(/^ {2}Daily .* 31 due dates +€310\.00$/gm)?.length, 100);
  assertEquals(text.match(/^ {2}and \d+ more$/gm), [`  and ${more - 100} more`, `  and ${more + 4 - 100} more`]);
  assert(
    text.includes(`Total: €${(more * 32 * 10 + 40.1).toLocaleString("en", { minimumFractionDigits: 2 })}\n`),
    text.slice(-600),
  );
  assert(html.length < 200_000, String(html.length));
  assertEquals((await run()).digestsSent, 0);
});

Deno.test("a digest that takes too long waits for an hour, alone", async () => {
  await using database = await openDatabase();
  const [{ name }] = await database.query<{ name: string }>("select current_database() as name") as [
    { name: string },
  ];
  await database.exec(`alter role authenticator in database "${name}" set statement_timeout = '700ms'`);
  await addDueBills(database, { owners: 30, each: 2, today: TODAY });
  const [row] = await database.query<{ source: string }>(
    "select pg_get_functiondef('jobs.describe_digest'::regproc) as source",
  );
  const slow =
    "if recipient.email = 'owner7@example.com' then perform pg_sleep(5); end if;\n  if not recipient.email_enabled";
  await database.exec(row!.source.replace("if not recipient.email_enabled", slow));

  const { mail, clock, run } = remindersOf(database);
  const first = await run();
  assertEquals([first.ok, first.digestsSent], [true, 29]);
  const [{ id }] = await database.query<{ id: string }>(
    "select id from jobs.reminder_digests where failure_code = 'not_described'",
  ) as [{ id: string }];
  assertEquals(first.errors.map(({ code, ref }) => [code, ref]), [["not_described", id], [
    "left_for_next_run",
    null,
  ]]);
  clock.at = new Date(clock.at.getTime() + 10 * 60_000);
  assertEquals((await run()).errors.map(({ code }) => code), ["left_for_next_run"]);

  await database.exec(row!.source);
  clock.at = new Date(clock.at.getTime() + 60 * 60_000);
  const last = await run();
  assertEquals([last.digestsSent, last.errors], [1, []]);
  assertEquals(mail.delivered.map(({ to }) => to).filter((to) => to === "owner7@example.com").length, 1);
  assertEquals(mail.delivered.length, 30);
});

Deno.test("owners with more bills than a page are collected one by one", async () => {
  await using database = await openDatabase();
  const [{ name }] = await database.query<{ name: string }>("select current_database() as name") as [
    { name: string },
  ];
  await database.exec(`alter role authenticator in database "${name}" set statement_timeout = '700ms'`);
  await addDueBills(database, { owners: 10, each: 2, today: TODAY });
  const { mail, run } = remindersOf(database);
  // As slow as many rows.
  await database.exec(`
    create function jobs.wait() returns trigger language plpgsql as $$ begin perform pg_sleep(0.06); return new; end $$;
    create trigger wait before insert on jobs.reminder_log for each row execute function jobs.wait()`);
  const answer = await run();
  assertEquals([answer.ok, answer.digestsSent, answer.errors], [true, 10, []]);
  assertEquals(mail.delivered.length, 10);
});
