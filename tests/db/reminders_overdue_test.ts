/** An overdue date is mailed again after 3, 7 and then every 14 days, until it is paid or snoozed. */
import { assertEquals } from "@std/assert";
import { daysAfter } from "../../shared/iso_day.ts";
import { openBooks } from "../_support/books.ts";
import { addBill, at, database, fresh, run, said } from "./reminder_run.ts";

const FIRST = "2026-11-10";
const ONCE = { frequency: "once", remind_days_before: 0 };

/** The days with a mail, counted from the first, and the mail's content. */
async function mailDays(first: string, days: number): Promise<[number, string][]> {
  const mails: [number, string][] = [];
  for (let n = 0; n < days; n++) {
    for (const text of said(await run(at(daysAfter(first, n))))) mails.push([n, text]);
    assertEquals(await run(at(daysAfter(first, n), "08:10")), []);
  }
  return mails;
}

Deno.test("an open date is mailed on its day and after 3, 7, 21, 35 and 49 days", async () => {
  const books = await fresh({ day: FIRST });
  await addBill(books, "Deposit", FIRST, ONCE);
  assertEquals(
    await mailDays(FIRST, 55),
    [0, 3, 7, 21, 35, 49].map((day) => [day, `Deposit ${day === 0 ? 0 : -day}`]),
  );
  const log = await database.query("select due_on::text from jobs.reminder_log");
  assertEquals(log, [{ due_on: FIRST }], "the reminder log has one row for an expense and due date");
});

Deno.test("a missed day is caught up on within two days, and not later", async () => {
  const books = await fresh({ day: FIRST });
  await addBill(books, "Deposit", FIRST, ONCE);
  await run(at(FIRST));
  assertEquals(said(await run(at(daysAfter(FIRST, 5)))), ["Deposit -5"]);
  assertEquals(await mailDays(daysAfter(FIRST, 10), 11), []);
});

Deno.test("each date of a bill is nudged separately, with the older ones on its line", async () => {
  const books = await fresh({ day: "2026-09-20" });
  await addBill(books, "Rent", "2026-10-01", { remind_days_before: 0 });
  const mails = await mailDays("2026-10-01", 46);
  assertEquals(mails.map(([day]) => day), [0, 3, 7, 21, 31, 34, 35, 38]);
});

Deno.test("a date that was due before its bill was paused is mailed until it is skipped", async () => {
  const books = await fresh({ day: FIRST });
  const bill_id = await addBill(books, "Gym", FIRST, { frequency: "weekly", remind_days_before: 0 });
  await run(at(FIRST));
  books.goTo(daysAfter(FIRST, 1));
  await books.ok("update_bill", { bill_id, set: { status: "paused" } });
  assertEquals(await mailDays(daysAfter(FIRST, 1), 10), [[2, "Gym -3"], [6, "Gym -7"]]);
  books.goTo(daysAfter(FIRST, 11));
  await books.ok("update_bill", { bill_id, occurrence: { due_on: FIRST, action: "skip" } });
  assertEquals(await mailDays(daysAfter(FIRST, 11), 15), []);
});

Deno.test("paid, muted, daily and automatic bills are not nudged", async () => {
  const books = await fresh({ day: FIRST });
  for (const name of ["Paid", "Muted"]) await addBill(books, name, FIRST, ONCE);
  await addBill(books, "Rolls", FIRST, { frequency: "daily", remind_days_before: 0 });
  await addBill(books, "Netflix", FIRST, { ...ONCE, autopay: true });
  assertEquals((await run(at(FIRST))).length, 1);
  await database.query("update app.expenses set reminder_enabled = false where name = 'Muted'");
  books.goTo("2026-11-11");
  await books.ok("mark_bill_paid", { bill_name: "Paid", due_on: FIRST });
  await database.query("update app.expenses set reminder_enabled = false where name = 'Rolls'");
  assertEquals(await mailDays("2026-11-11", 12), []);
  await database.query("update app.expenses set reminder_enabled = true where name = 'Rolls'");
  await database.query("update app.expenses set next_due = null where name = 'Rolls'");
  assertEquals(await mailDays("2026-11-23", 10), []);
});

Deno.test("a snooze postpones the nudges to 3, 7 and 21 days after its end", async () => {
  const books = await fresh({ day: FIRST });
  const bill_id = await addBill(books, "Deposit", FIRST, ONCE);
  assertEquals((await mailDays(FIRST, 5)).map(([day]) => day), [0, 3]);
  books.goTo(daysAfter(FIRST, 5));
  await books.ok("update_bill", {
    bill_id,
    occurrence: { due_on: FIRST, action: "snooze", snooze_until: daysAfter(FIRST, 10) },
  });
  assertEquals((await mailDays(daysAfter(FIRST, 5), 30)).map(([day]) => day + 5), [10, 13, 17, 31]);
});

Deno.test("an overdue bill of one organization is nudged only to its owner", async () => {
  const one = await fresh({ day: FIRST });
  const other = await openBooks(database, { day: FIRST });
  await addBill(one, "Deposit", FIRST, ONCE);
  await addBill(other, "Rent", daysAfter(FIRST, 60), ONCE);
  await run(at(FIRST));
  const digests = await run(at(daysAfter(FIRST, 3)));
  assertEquals([digests.map(({ recipient_id }) => recipient_id), said(digests)], [[one.userId], ["Deposit -3"]]);
});

Deno.test("a nudge is dropped after payment, and repeated after a lost response", async () => {
  const books = await fresh({ day: FIRST });
  await addBill(books, "Deposit", FIRST, ONCE);
  await run(at(FIRST));
  const day = daysAfter(FIRST, 3);
  await database.asService("collect_reminders", { at: at(day) });
  await database.query("update app.expense_occurrences set status = 'paid', closed_at = now()");
  assertEquals(await run(at(day)), []);
  assertEquals(await database.query("select from jobs.notice_log"), []);
  await database.query("update app.expense_occurrences set status = 'open', closed_at = null");
  await database.asService("collect_reminders", { at: at(day) });
  await database.asService("claim_reminders", { size: 10, at: at(day) });
  const claimed = await database.asService<{ id: string } | null>("claim_reminders", {
    size: 10,
    at: at(day, "08:05"),
  });
  assertEquals(claimed !== null, true);
  assertEquals(said(await run(at(daysAfter(FIRST, 4), "09:30"))), ["Deposit -4"]);
  const log = await database.query("select voided_at is not null as void from jobs.notice_log order by id");
  assertEquals(log, [{ void: true }, { void: false }]);
});
