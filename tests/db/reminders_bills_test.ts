/** The bills of a digest by day: in the lead window, overdue, snoozed, stopped. */
import { assertEquals } from "@std/assert";
import { addBill, at, database, fresh, run, said } from "./reminder_run.ts";

Deno.test("a reminder uses the bill's lead time, otherwise the owner's, otherwise three days", async () => {
  const books = await fresh();
  await addBill(books, "Default", "2026-11-23");
  await addBill(books, "Own", "2026-11-27", { remind_days_before: 7 });
  await addBill(books, "On the day", "2026-11-20", { remind_days_before: 0 });
  await addBill(books, "Too far", "2026-11-24");
  assertEquals(said(await run(at("2026-11-19"))), []);
  assertEquals(said(await run(at("2026-11-20"))), ["On the day 0, Default 3, Own 7"]);
  assertEquals(said(await run(at("2026-11-20", "08:10"))), []);
  assertEquals(said(await run(at("2026-11-21"))), ["On the day -1, Too far 3"]);
  await database.query("update identity.profiles set default_lead_days = 30");
  await addBill(books, "Far", "2026-12-20");
  assertEquals(said(await run(at("2026-11-22"))), ["On the day -2, Far 28"]);
});

Deno.test("missed days are caught up within the window, and not after", async () => {
  const books = await fresh();
  await addBill(books, "Rent", "2026-11-20", { frequency: "yearly" });
  await addBill(books, "Water", "2026-11-18", { frequency: "yearly" });
  assertEquals(said(await run(at("2026-11-19"))), ["Water -1, Rent 1"]);
  const later = await fresh();
  await addBill(later, "Rent", "2026-11-20", { frequency: "yearly" });
  assertEquals(said(await run(at("2026-11-21"))), []);
});

Deno.test("overdue bills are listed with due ones, one line each", async () => {
  const books = await fresh({ day: "2026-09-01" });
  await addBill(books, "Water", "2026-09-05");
  assertEquals(said(await run(at("2026-11-20"))), []);
  await addBill(books, "Rent", "2026-11-21");
  const [digest] = await run(at("2026-11-20"));
  assertEquals(
    digest!.content.organizations[0]!.bills.map(({ name, days, dates, amount }) => [name, days, dates, amount]),
    [
      ["Water", -76, 3, "30.00"],
      ["Rent", 1, 1, "10.00"],
    ],
  );
});

Deno.test("a digest lists 100 due bills and counts the others", async () => {
  const books = await fresh();
  for (let n = 1; n <= 102; n++) await addBill(books, `Bill ${n}`, n > 101 ? "2026-11-23" : "2026-11-22");
  const [digest] = await run(at("2026-11-20"));
  const { bills, unlisted } = digest!.content.organizations[0]!;
  assertEquals([bills.length, unlisted], [100, { overdue: 0, due: 2, due_until: "2026-11-23" }]);
});

Deno.test("paid, skipped, snoozed, paused and muted bills get no reminder; a snooze ends", async () => {
  const books = await fresh();
  for (const name of ["Paid", "Snoozed", "Paused", "Silent", "Kept"]) await addBill(books, name, "2026-11-22");
  const idOf = async (name: string) =>
    (await database.query<{ id: string }>("select id from app.expenses where name = $1", [name]))[0]!.id;
  await books.ok("mark_bill_paid", { bill_id: await idOf("Paid"), due_on: "2026-11-22" });
  await database.query("update app.expense_occurrences set snoozed_until = '2026-11-21' where expense_id = $1", [
    await idOf("Snoozed"),
  ]);
  await database.query("update app.expenses set status = 'paused', next_due = null where name = 'Paused'");
  await database.query("update app.expenses set reminder_enabled = false where name = 'Silent'");
  assertEquals(said(await run(at("2026-11-20"))), ["Kept 2"]);
  assertEquals(said(await run(at("2026-11-21"))), ["Snoozed 1"]);
});

Deno.test("a snoozed reminder is repeated once, on the chosen day", async () => {
  const books = await fresh();
  const rent = await addBill(books, "Rent", "2026-11-25", { remind_days_before: 7 });
  await addBill(books, "Water", "2026-11-25", { remind_days_before: 7 });
  const snooze = (due_on: string, snooze_until: string) =>
    books.ok("update_bill", { bill_id: rent, occurrence: { due_on, action: "snooze", snooze_until } });
  assertEquals(said(await run(at("2026-11-18"))), ["Rent 7, Water 7"]);
  await snooze("2026-11-25", "2026-11-20");
  assertEquals(said(await run(at("2026-11-19"))), []);
  assertEquals(said(await run(at("2026-11-20"))), ["Rent 5"]);
  assertEquals(said(await run(at("2026-11-20", "08:10"))), []);
  assertEquals(said(await run(at("2026-11-21"))), []);
  // A second run on the same day sends no other reminder. A run on another day does, even after a missed run.
  await snooze("2026-11-25", "2026-11-20");
  assertEquals(said(await run(at("2026-11-22"))), []);
  await snooze("2026-11-25", "2026-11-23");
  assertEquals(said(await run(at("2026-11-24"))), ["Rent 1"]);
  assertEquals(said(await run(at("2026-11-25"))), []);
});

Deno.test("snoozing beyond the due date causes one reminder, on that day", async () => {
  const books = await fresh();
  const rent = await addBill(books, "Rent", "2026-11-20");
  const once = await addBill(books, "Once", "2026-11-20", { frequency: "once" });
  await addBill(books, "Water", "2026-11-18");
  assertEquals(said(await run(at("2026-11-18"))), ["Water 0, Once 2, Rent 2"]);
  for (const snooze_until of ["2026-11-22", "2026-11-24"]) {
    const occurrence = { due_on: "2026-11-20", action: "snooze", snooze_until };
    await books.ok("update_bill", { bill_id: rent, occurrence });
    await books.ok("update_bill", { bill_id: once, occurrence });
    const day = Number(snooze_until.slice(8));
    assertEquals(said(await run(at(`2026-11-${day - 1}`))), day === 22 ? ["Water -3"] : []);
    assertEquals(said(await run(at(snooze_until))), [`Water ${18 - day}, Once ${20 - day}, Rent ${20 - day}`]);
    assertEquals(said(await run(at(snooze_until, "08:10"))), []);
  }
  assertEquals(said(await run(at("2026-11-25"))), ["Water -7, Once -5, Rent -5"]);
  const [log] = await database.query(
    "select array_agg(coalesce(snoozed_until::text, 'never') order by id) as until from jobs.reminder_log where expense_id = $1",
    [rent],
  );
  assertEquals(log!.until, ["never", "2026-11-22", "2026-11-24"]);
});

Deno.test("a snoozed bill that was stopped, or paid in the meantime, sends nothing", async () => {
  const books = await fresh();
  for (const name of ["Paid", "Stopped", "Overdue"]) await addBill(books, name, "2026-11-20");
  await run(at("2026-11-18"));
  await database.query("update app.expense_occurrences set snoozed_until = '2026-11-22'");
  await database.query("update app.expenses set reminder_enabled = false where name = 'Stopped'");
  await database.query(
    "update app.expense_occurrences set snoozed_until = null where expense_id = (select id from app.expenses where name = 'Overdue')",
  );
  const [paid] = await database.query<{ id: string }>("select id from app.expenses where name = 'Paid'");
  await books.ok("mark_bill_paid", { bill_id: paid!.id, due_on: "2026-11-20" });
  assertEquals(said(await run(at("2026-11-22"))), []);
});

Deno.test("a bill with several lead times is mailed once at each, in whatever order they were set", async () => {
  const books = await fresh({ day: "2026-11-01" });
  const id = await addBill(books, "Tax", "2026-11-30", {
    remind_days_before: 3,
    remind_again: [0, 14],
    frequency: "once",
  });
  await addBill(books, "Rent", "2026-11-25", { frequency: "once" });
  const { bills } = await books.ok("list_bills");
  const { reminder } = bills.find((bill: { id: string }) => bill.id === id);
  assertEquals(reminder, { enabled: true, days_before: 14, again: [3, 0] });
  const days: Record<string, string> = {};
  for (let day = 12; day <= 30; day++) {
    const [text] = said(await run(at(`2026-11-${day}`)));
    if (text) days[day] = text;
    assertEquals(await run(at(`2026-11-${day}`, "08:10")), []);
  }
  assertEquals(days, {
    16: "Tax 14",
    22: "Rent 3",
    27: "Rent -2, Tax 3",
    28: "Rent -3",
    30: "Rent -5, Tax 0",
  });
  const log = await database.query(
    "select due_on::text from jobs.reminder_log where expense_id = $1",
    [id],
  );
  assertEquals(log, [{ due_on: "2026-11-30" }], "the reminder log has one row for an expense and due date");
});

Deno.test("later reminders skip paid and snoozed dates, and bills with a new longer lead", async () => {
  const books = await fresh({ day: "2026-11-01" });
  const leads = { remind_days_before: 10, remind_again: [3], frequency: "once" };
  for (const name of ["Paid", "Snoozed", "Cleared", "Longer"]) await addBill(books, name, "2026-11-25", leads);
  assertEquals(said(await run(at("2026-11-15"))), ["Cleared 10, Longer 10, Paid 10, Snoozed 10"]);
  const { bills } = await books.ok("list_bills");
  const idOf = (name: string) => bills.find((bill: { name: string }) => bill.name === name).id;
  books.goTo("2026-11-16");
  await books.ok("mark_bill_paid", { bill_id: idOf("Paid"), due_on: "2026-11-25" });
  await books.ok("update_bill", { bill_id: idOf("Cleared"), set: { remind_again: [] } });
  await books.ok("update_bill", { bill_id: idOf("Longer"), set: { remind_days_before: 20 } });
  await books.ok("update_bill", {
    bill_id: idOf("Snoozed"),
    occurrence: { due_on: "2026-11-25", action: "snooze", snooze_until: "2026-11-24" },
  });
  assertEquals(said(await run(at("2026-11-17"))), []);
  assertEquals(said(await run(at("2026-11-22"))), ["Longer 3"]);
  // The end of the snooze and the later reminder fall on the same day: one bill of 10.00.
  const last = await run(at("2026-11-24"));
  assertEquals(said(last), ["Snoozed 1"]);
  const [bill] = last[0]!.content.organizations[0]!.bills;
  assertEquals([bill!.dates, bill!.amount], [1, "10.00"]);
});
