/** Runs that overlap, end early or meet too many bills send no digest twice, and no digest delays others. */
import { assertEquals } from "@std/assert";
import { openBooks } from "../_support/books.ts";
import { addBill, at, database, type Digest, fresh, run } from "./reminder_run.ts";

Deno.test("a run without the lease marks nothing as sent", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  type Batch = { id: string; lease_token: string; digests: Digest[] };
  const first = await database.asService<Batch>("claim_reminders", { size: 10, at: at("2026-11-20") });
  assertEquals(await database.asService("claim_reminders", { size: 10, at: at("2026-11-20", "08:01") }), null);
  const second = await database.asService<Batch>("claim_reminders", { size: 10, at: at("2026-11-20", "08:02") });
  assertEquals([second.id, second.digests], [first.id, first.digests]);
  const settle = (batch: Batch) =>
    database.asService<{ outcome: string }>("settle_reminders", {
      batch_id: batch.id,
      lease_token: batch.lease_token,
      results: [{ id: batch.digests[0]!.id, outcome: "sent" }],
      is_last: true,
      retry_at: at("2026-11-20", "08:03"),
      at: at("2026-11-20", "08:02"),
    });
  assertEquals(await settle(first), { outcome: "lost" });
  assertEquals(await settle(second), { outcome: "settled", digests: 1, reminders: 1 });
  assertEquals(await settle(second), { outcome: "lost" });
});

Deno.test("a batch without its owners ends, and one unanswered for a day is not resent", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  type Batch = { id: string; lease_token: string; digests: Digest[] };
  const claim = (day: string, time: string) =>
    database.asService<Batch | null>("claim_reminders", { size: 10, at: at(day, time) });
  assertEquals((await claim("2026-11-20", "08:00"))!.digests.length, 1);
  assertEquals((await claim("2026-11-21", "06:59"))!.digests.length, 1);
  assertEquals(await claim("2026-11-21", "10:00"), null);

  await database.query("delete from jobs.reminder_digests where true");
  await database.query("update jobs.reminder_batches set unsure_since = null, leased_at = $1", [
    at("2026-11-21", "09:00"),
  ]);
  const empty = await claim("2026-11-21", "11:00");
  assertEquals(empty!.digests, []);
  await database.asService("settle_reminders", {
    batch_id: empty!.id,
    lease_token: empty!.lease_token,
    results: [],
    is_last: true,
    retry_at: at("2026-11-21", "12:00"),
    at: at("2026-11-21", "11:00"),
  });
  assertEquals(await database.query("select from jobs.reminder_batches"), []);
});

Deno.test("a digest lists up to a hundred due and overdue bills each, and counts them all", async () => {
  const books = await fresh({ day: "2026-11-15" });
  await addBill(books, "Due 1", "2026-11-21", { frequency: "yearly" });
  await addBill(books, "Late 1", "2026-11-16", { frequency: "yearly" });
  const columns =
    `organization_id, kind, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due, status,
    reminder_enabled`;
  const dates = "organization_id, scheduled_on, due_on, expected_minor, currency";
  await database.exec(`
    create temporary table copies as
      select app.new_id('bill') as id, e.id as of, split_part(name, ' ', 1) || ' ' || n as name from app.expenses as e, generate_series(2, 103) as n;
    insert into app.expenses (id, name, ${columns}) select c.id, c.name, ${columns} from copies as c join app.expenses as e on e.id = c.of;
    insert into app.expense_occurrences (expense_id, ${dates})
      select c.id, ${dates} from copies as c join app.expense_occurrences as o on o.expense_id = c.of;
    drop table copies`);
  const [digest] = await run(at("2026-11-20"));
  const [{ bills, unlisted, total }] = digest!.content.organizations as unknown as [
    { bills: { days: number }[]; unlisted: unknown; total: string },
  ];
  assertEquals([bills.filter(({ days }) => days < 0).length, bills.length], [100, 200]);
  assertEquals([unlisted, total], [{ overdue: 3, due: 3, due_until: "2026-11-21" }, "2060.00"]);
  assertEquals(await database.query("select count(*)::int as sent from jobs.reminder_log where sent_at is not null"), [{
    sent: 103,
  }]);
  assertEquals(await run(at("2026-11-21")), []);
});

Deno.test("a digest that cannot be rendered is set aside, and the others are sent", async () => {
  const one = await fresh();
  const other = await openBooks(database, { day: "2026-11-10" });
  for (const books of [one, other]) await addBill(books, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  const [row] = await database.query<{ source: string }>(
    "select pg_get_functiondef('jobs.describe_digest'::regproc) as source",
  );
  const planted =
    `if digest.recipient_id = '${one.userId}' then raise exception 'planted'; end if;\n  if not recipient.email_enabled`;
  await database.exec(row!.source.replace("if not recipient.email_enabled", planted));
  const claims = [];
  for (let i = 0; i < 3; i++) {
    claims.push(
      await database.asService<{ set_aside?: string; digests?: Digest[] } | null>("claim_reminders", {
        size: 10,
        at: at("2026-11-20"),
      }),
    );
  }
  await database.exec(row!.source);
  assertEquals(claims.flatMap((claim) => claim?.digests ?? []).map(({ recipient_id }) => recipient_id), [other.userId]);
  assertEquals(claims.filter((claim) => claim?.set_aside).length, 1);
  assertEquals(claims[2], null);
  assertEquals((await run(at("2026-11-20", "08:59"))).length, 1);
  assertEquals((await run(at("2026-11-20", "09:00"))).map(({ recipient_id }) => recipient_id), [one.userId]);
});
