/** A bookkeeper closes September; its payments remain unchanged for everybody until she reopens it. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { rollAll } from "../_support/roll_bills.ts";
import { joinMember, type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A company with an employee, and a clock at 20 September 2026. */
async function company() {
  let day = "2026-09-20";
  const clock = () => new Date(`${day}T09:00:00Z`);
  const owner = await newMember(database, { organization: "Acme", plan: "team", clock });
  const employee = await joinMember(database, { organizationId: owner.organizationId, clock });
  return { owner, employee, goTo: (to: string) => void (day = to) };
}

const close = (member: Member, month: string) => member.ok("update_settings", { closed_through: month });
const log = (member: Member, name: string, date: string, more: Json = {}) =>
  member.ok("log_expenses", { items: [{ name, amount: "10", date, ...more }], on_duplicate: "allow" });
const spentIn = async (member: Member, from: string, to: string) =>
  (await member.ok("summarize_spending", { from, to, group_by: ["category"] })).data.rows
    .map(({ group, amount }: Json) => [...group, amount]);

Deno.test("no tool writes into a closed month", async () => {
  const { owner, goTo } = await company();
  const logged = await log(owner, "Paper", "2026-09-15", { category: "Shopping" });
  const paper = logged.data.results[0].id;
  const { data: { bill: { id: rent } } } = await owner.ok("add_bill", {
    name: "Rent",
    amount: "900",
    first_due: "2026-09-18",
  });
  await owner.ok("mark_bill_paid", { bill_id: rent, due_on: "2026-09-18" });
  goTo("2026-10-06");
  const { data: { results: [{ id: ink }] } } = await log(owner, "Ink", "2026-10-02");
  const closing = await close(owner, "2026-09");
  assertEquals(closing.data.settings.closed_through, "2026-09");
  assertEquals((await owner.ok("get_context")).data.settings.closed_through, "2026-09");

  const attempts: [string, Json][] = [
    ["log_expenses", { items: [{ name: "Stamps", amount: "3", date: "2026-09-30" }] }],
    ["log_expenses", { items: [{ name: "Stamps", amount: "3", date: "2025-01-01" }], dry_run: true }],
    ["update_expenses", { ids: [paper], set: { amount: "11" } }],
    ["update_expenses", { ids: [paper], set: { date: "2026-10-01" } }],
    ["update_expenses", { ids: [ink], set: { date: "2026-09-30" } }],
    ["update_expenses", { ids: [paper], set: { category: "Food" } }],
    ["update_expenses", { ids: [paper, ink], add_tags: ["seen"] }],
    ["update_expenses", { ids: [paper], merge_into: ink }],
    ["update_expenses", { ids: [ink], merge_into: paper }],
    ["delete_records", { ids: [paper] }],
    ["delete_records", { ids: [rent], confirm: { count: 2, total: "900.00" } }],
    ["mark_bill_paid", { bill_id: rent, due_on: "2026-10-18", paid_on: "2026-09-30", advance: true }],
    ["mark_bill_paid", { bill_id: rent, due_on: "2026-09-18", amount: "901" }],
    ["update_bill", { bill_id: rent, occurrence: { action: "reopen", due_on: "2026-09-18" } }],
    ["update_settings", { category: { action: "merge", name: "Shopping", into: "Food" } }],
    ["undo_change", { change_id: logged.change_id }],
  ];
  await owner.ok("update_expenses", { ids: [ink], set: { category: "Shopping", note: "blue" } });
  const books = () =>
    database.query("select to_jsonb(p) as row from app.payments as p where organization_id = $1 order by id", [
      owner.organizationId,
    ]);
  const before = await books();
  for (const [tool, args] of attempts) {
    const { code, message, hint } = await owner.fails(tool, args);
    assertEquals(code, "month_closed", `${tool} ${JSON.stringify(args)}: ${message}`);
    assertMatch(message, /^2\d{3}-\d{2} is closed\. Reopen it first\.$/);
    assertMatch(hint, /closed_through "2\d{3}-\d{2}"/);
  }
  assertEquals(await books(), before);
  // A direct write to the tables is refused too.
  for (const sql of ["delete from app.payments", "update app.payments set note = 'x'"]) {
    const refused = await database.query(`${sql} where expense_id = $1`, [paper]).catch(({ message }) => message);
    assertEquals(refused, "month_closed");
  }

  // October is open, and so is September after reopening.
  await log(owner, "Stamps", "2026-10-01");
  const reopening = await close(owner, "");
  assertEquals(reopening.data.settings.closed_through, undefined);
  await owner.ok("undo_change", { change_id: reopening.change_id });
  await owner.fails(...attempts[0]!);
  await owner.ok("undo_change", { change_id: closing.change_id });
  await owner.ok("update_expenses", { ids: [paper], set: { date: "2026-10-01" } });
  const { recent_changes } = (await owner.ok("get_context", { include: ["recent_changes"] })).data;
  const summaries = recent_changes.map(({ summary }: Json) => summary);
  assertEquals(summaries.filter((summary: string) => summary.startsWith("Settings")), [
    "Settings: no closed months",
    "Settings: closed through 2026-09",
  ]);
});

Deno.test("relabel_closed allows only notes, tags and categories to change in closed months", async () => {
  const { owner, employee, goTo } = await company();
  const { data: { results: [{ id }] } } = await log(owner, "Paper", "2026-09-15", { category: "Shopping" });
  await owner.ok("update_settings", { category: { action: "create", name: "Secret" } });
  await owner.ok("update_settings", { category: { action: "make_private", name: "Secret" } });
  goTo("2026-10-06");
  await close(owner, "2026-09");
  const relabel = { ids: [id], set: { category: "Food", note: "for the office" }, add_tags: ["seen"] };
  const refused = await owner.fails("update_expenses", relabel);
  assertEquals(refused.code, "month_closed");
  assertMatch(refused.hint, /relabel_closed true allows it/);
  assertEquals((await employee.fails("update_settings", { relabel_closed: true })).code, "forbidden_role");
  const allowing = await owner.ok("update_settings", { relabel_closed: true });
  assertEquals((await employee.ok("get_context")).data.settings.relabel_closed, true);
  const { change_id } = await employee.ok("update_expenses", relabel);
  assertEquals(await spentIn(owner, "2026-09-01", "2026-09-30"), [["Food", "10.00"]]);
  const { data: { rows: [paper] } } = await owner.ok("list_expenses", { from: "2026-09-01", to: "2026-09-30" });
  assertEquals([paper.category, paper.tags, paper.note], ["Food", ["seen"], "for the office"]);
  const others: [string, Json][] = [
    ["update_expenses", { ids: [id], set: { amount: "11" } }],
    ["update_expenses", { ids: [id], set: { category: "Food", date: "2026-10-01" } }],
    ["update_expenses", { ids: [id], set: { name: "Paper 2" } }],
    ["update_expenses", { ids: [id], set: { tax: "1" } }],
    // Members' totals of the month would be too low.
    ["update_expenses", { ids: [id], set: { category: "Secret" } }],
    ["delete_records", { ids: [id] }],
    ["log_expenses", { items: [{ name: "Stamps", amount: "3", date: "2026-09-30" }] }],
  ];
  for (const [tool, args] of others) {
    assertEquals((await owner.fails(tool, args)).code, "month_closed", `${tool} ${JSON.stringify(args)}`);
  }
  await owner.ok("undo_change", { change_id });
  assertEquals(await spentIn(owner, "2026-09-01", "2026-09-30"), [["Shopping", "10.00"]]);
  await owner.ok("undo_change", { change_id: allowing.change_id });
  assertEquals((await owner.fails("update_expenses", relabel)).code, "month_closed");
});

Deno.test("only the owner closes months, and only past ones of this organization", async () => {
  const { owner, employee, goTo } = await company();
  const { owner: neighbour } = await company();
  assertEquals((await owner.fails("update_settings", { closed_through: "2026-09" })).code, "date_out_of_range");
  goTo("2026-10-01");
  assertMatch((await owner.fails("update_settings", { closed_through: null })).hint, /""/);
  assertEquals((await employee.fails("update_settings", { closed_through: "2026-09" })).code, "forbidden_role");
  const closing = await close(owner, "2026-09");
  assertEquals((await employee.fails("update_settings", { closed_through: "" })).code, "forbidden_role");
  assertEquals((await employee.fails("undo_change", { change_id: closing.change_id })).code, "forbidden_role");
  assertEquals(
    (await employee.fails("log_expenses", { items: [{ name: "A", amount: "1", date: "2026-09-30" }] })).code,
    "month_closed",
  );
  const mixed = await employee.fails("log_expenses", {
    items: [{ name: "A", amount: "1", date: "2026-10-01" }, { name: "B", amount: "1", date: "2026-09-30" }],
  });
  assertEquals([mixed.code, mixed.field], ["month_closed", "items[1].date"]);
  assertMatch(mixed.message, /B/);
  assertEquals(mixed.details.results.map(({ index }: Json) => index), [1]);
  await log(neighbour, "Tea", "2026-09-15");

  // A closed month does not prevent the deletion of an organization.
  goTo("2026-10-06");
  await close(owner, "");
  await log(owner, "Tea", "2026-09-15");
  await close(owner, "2026-09");
  await database.query("delete from identity.organizations where id = $1", [owner.organizationId]);
});

Deno.test("an import adds no row to a closed month and recognizes duplicates there", async () => {
  const { owner, goTo } = await company();
  await log(owner, "Milk", "2026-09-10");
  goTo("2026-10-06");
  await close(owner, "2026-09");
  const csv = "Date,Name,Amount\n2026-09-10,Milk,10.00\n2026-09-11,Bread,3.00\n2026-10-01,Rolls,2.00";
  const { data: { preview } } = await owner.ok("import_expenses", { csv });
  assertEquals([preview.rows_ok, preview.duplicates_count, preview.totals], [1, 1, { EUR: "2.00" }]);
  assertEquals(preview.rows_bad, [{ line: 3, reason: "2026-09 is closed. Reopen it first." }]);
  assertEquals((await owner.ok("import_expenses", preview.commit_with)).data.not_written, { closed: 1 });
  const none = await owner.fails("import_expenses", { csv: "Date,Name,Amount\n2026-09-11,Bread,3.00" });
  assertEquals(
    [none.code, none.message],
    ["month_closed", "All readable rows are in closed months (2026-09). Nothing was written."],
  );
  assertMatch(none.hint, /^Ask the user first: .* reopens only these with update_settings, closed_through "2026-08", /);
  assertMatch(JSON.stringify(none.details.rows_bad), /2026-09 is closed/);
  const several = "Date,Name,Amount\n2026-08-30,Flour,4.00\n2026-09-11,Bread,3.00\n2026-09-31,Cake,1.00";
  const both = await owner.fails("import_expenses", { csv: several });
  assertMatch(both.message, /\(2026-08 to 2026-09\)/);
  assertMatch(both.hint, /closed_through "2026-07"/);
  // Another person closes the month between the two steps.
  const { data: { preview: later } } = await owner.ok("import_expenses", {
    csv: "Date,Name,Amount\n2026-10-02,Jam,4.00",
  });
  goTo("2026-11-01");
  await close(owner, "2026-10");
  goTo("2026-10-06");
  assertEquals((await owner.fails("import_expenses", later.commit_with)).code, "expectation_mismatch");
  const { message } = await owner.fails("import_expenses", { import_id: later.import_id });
  assertMatch(message, /in closed months \(2026-10\)/);
});

Deno.test("a bill's new category applies from now on; closed months keep the old one", async () => {
  const { owner, goTo } = await company();
  const { data: { bill: { id } } } = await owner.ok("add_bill", {
    name: "Figma",
    amount: "15",
    first_due: "2026-09-20",
    category: "Software",
  });
  await owner.ok("mark_bill_paid", { bill_id: id });
  goTo("2026-10-20");
  await owner.ok("mark_bill_paid", { bill_id: id });
  await close(owner, "2026-09");
  await owner.ok("update_bill", { bill_id: id, set: { category: "Subscriptions" } });
  assertEquals(await spentIn(owner, "2026-09-01", "2026-09-30"), [["Software", "15.00"]]);
  assertEquals(await spentIn(owner, "2026-10-01", "2026-10-31"), [["Subscriptions", "15.00"]]);
});

Deno.test("automatic payments are recorded before a month closes; later ones wait for a person", async () => {
  const { owner, goTo } = await company();
  const { owner: neighbour } = await company();
  const bill = { amount: "15", first_due: "2026-09-30", autopay: true };
  const { data: { bill: { id } } } = await owner.ok("add_bill", { name: "Netflix", ...bill });
  const { data: { bill: { id: spotify } } } = await owner.ok("add_bill", {
    name: "Spotify",
    ...bill,
    autopay: false,
  });
  await neighbour.ok("add_bill", { name: "Netflix", ...bill });
  goTo("2026-10-01");
  const closing = await close(owner, "2026-09");
  assertMatch(closing.warnings[0].message, /^Not paid in the closed months: Spotify due 2026-09-30\./);
  const paid = async (of: string) =>
    (await owner.ok("list_bills", { bill_id: of })).data.payments.map(({ paid_on }: Json) => paid_on);
  assertEquals(await paid(id), ["2026-09-30"]);

  // The bill becomes automatic only now, with a date in the closed month. The job continues, and the date stays open.
  await database.query("update app.expenses set autopay = true where id = $1", [spotify]);
  const { failed } = await rollAll(database, "2026-10-01T09:00:00Z");
  assertEquals(failed, []);
  assertEquals(await paid(spotify), []);
  const overdue = (await owner.ok("review_bills")).data.overdue.map(({ name, due_on }: Json) => [name, due_on]);
  assertEquals(overdue, [["Spotify", "2026-09-30"]]);
  const [{ count }] = await database.query<Json>(
    "select count(*)::int as count from app.payments where organization_id = $1",
    [neighbour.organizationId],
  );
  assertEquals(count, 1);
  await owner.ok("mark_bill_paid", { bill_id: spotify, due_on: "2026-09-30" });
  assertEquals(await paid(spotify), ["2026-10-01"]);
});

Deno.test("a month closes once its values are final, and a new base currency revalues it", async () => {
  const { owner, goTo } = await company();
  await log(owner, "Hosting", "2026-09-15", { currency: "USD" });
  goTo("2026-10-02");
  const error = await owner.fails("update_settings", { closed_through: "2026-09" });
  assertEquals([error.code, error.message], [
    "values_pending",
    "2026-09 cannot be closed yet: 1 payment since 2026-09-15 waits for the rate of its day.",
  ]);
  await database.query(
    "insert into app.fx_rates (quote, rate_on, source, rate) values ('USD', '2026-09-15', 'ecb', 1.25), ('GBP', '2026-09-15', 'ecb', 0.8)",
  );
  await database.asService("settle_values", { after: null, size: 100 });
  await close(owner, "2026-09");
  // Another source's later rate changes nothing.
  await database.query(
    "insert into app.fx_rates (quote, rate_on, source, rate) values ('USD', '2026-09-15', 'aaa', 2)",
  );
  await database.asService("settle_values", { after: null, size: 100 });
  assertEquals((await owner.ok("list_expenses")).data.rows[0].base_amount, "8.00");
  const { data } = await owner.ok("update_settings", { base_currency: "GBP" });
  assertEquals(data.revalued.moved, 1);
  assertEquals((await owner.ok("list_expenses")).data.rows[0].base_amount, "6.40");
});

Deno.test("closing counts the months' records without a category", async () => {
  const { owner, goTo } = await company();
  await log(owner, "Paper", "2026-09-15", { category: "Shopping" });
  await log(owner, "Qwerty", "2026-09-16");
  await log(owner, "Asdf", "2026-08-16");
  goTo("2026-10-06");
  const told = ({ warnings }: Json) =>
    warnings.find(({ code }: Json) => code === "uncategorized_in_closed_month")?.message.split(":")[0];
  assertEquals(told(await close(owner, "2026-08")), "1 record of the closed months has no category");
  assertEquals(told(await close(owner, "2026-09")), "1 record of the closed months has no category");
});
