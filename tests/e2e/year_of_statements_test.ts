/**
 * A year of voice entries and its twelve statements, imported month by month: few questions, no wrong match, and at
 * the end the books agree with the bank to the cent.
 */
import { assert, assertEquals } from "@std/assert";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { daysAfter } from "../../shared/iso_day.ts";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { type Booked, cashOf, makeYear, type Month, type Said, USD_RATE } from "./year_of_statements/year.ts";

const MOST_ASKED_PERCENT = 2;

/** Bills that the bank pays, with the kind of each. */
async function addBills(books: Books): Promise<void> {
  await books.ok("add_bill", { name: "Rent", amount: "950", first_due: "2026-01-01" });
  await books.ok("add_bill", { name: "Netflix", amount: "12.99", first_due: "2026-01-10", autopay: true });
  const power = { amount: "80", amount_mode: "estimated", autopay: true };
  await books.ok("add_bill", { name: "Vattenfall", first_due: "2026-01-15", ...power });
  await books.ok("add_bill", { name: "FitX", amount: "29.99", first_due: "2026-01-23" });
}

async function say(books: Books, said: Said[]): Promise<void> {
  for (let first = 0; first < said.length; first += 100) {
    await books.ok("log_expenses", { items: said.slice(first, first + 100), on_duplicate: "allow" });
  }
}

async function preview(books: Books, rows: Booked[]): Promise<Json> {
  const lines = rows.map(({ date, text, cents }) => `${date},"${text}",${(-cents / 100).toFixed(2)}`);
  const parsed = importExpenses.parse({
    csv: ["Date,Description,Amount", ...lines].join("\n"),
    account: "Giro",
    mapping: { negative_is_expense: true },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  return (await books.ok("import_expenses", parsed.value)).preview;
}

/** The matches of each row, by name and amount, because two coffees of the same price are interchangeable. */
async function matchesOf(database: TestDatabase, importId: string) {
  const rows = await database.query<{ line: number; match: Json; found: string[] }>(
    `select r.line, r.match, array(
       select e.name || case e.kind when 'bill' then '' else ' ' || case
         when p.split_id is not null then sum(p.amount_minor)::text else min(p.amount_minor)::text end end
       from app.payments as p join app.expenses as e on e.id = p.expense_id
       where p.id in (select jsonb_array_elements_text(coalesce(r.match -> 'payment_ids', r.match #> '{candidates,0,payment_ids}')))
       group by e.name, e.kind, p.split_id, case when p.split_id is null then p.id end
       union all
       select e.name from app.expenses as e where e.id = coalesce(r.match ->> 'bill_id', r.match #>> '{candidates,0,bill_id}')
       order by 1
     ) as found
     from app.import_rows as r where r.import_id = $1 order by r.line`,
    [importId],
  );
  return rows;
}

const truthOf = ({ of, bill }: Booked): string[] =>
  bill ? [bill] : of.map(({ name, amount }) => `${name} ${Math.round(Number(amount) * 100)}`).toSorted();

/** Imports a month and returns the number of questions about rows. */
async function importMonth(books: Books, database: TestDatabase, { booked }: Month): Promise<number> {
  let shown = await preview(books, booked);
  const matches = await matchesOf(database, shown.import_id);
  assertEquals(matches.length, booked.length);
  const answers: Record<string, string> = {};
  for (const [index, { line, match, found }] of matches.entries()) {
    const row = booked[index]!;
    const truth = truthOf(row);
    const label = `${row.date} ${row.text} ${row.cents}: ${JSON.stringify(match)}`;
    if (match.state === "likely") {
      const isSame = JSON.stringify(found) === JSON.stringify(truth);
      const { id } = match.candidates[0];
      answers[`row_${line}`] = !isSame ? "new" : match.candidates.length === 1 ? "same" : id;
    } else assertEquals([match.state, found], [truth.length > 0 ? "linked" : "new", truth], label);
  }
  if (Object.keys(answers).length > 0) {
    shown = (await books.ok("import_expenses", { import_id: shown.import_id, answers })).preview;
  }
  await books.ok("import_expenses", shown.commit_with);
  return Object.keys(answers).length;
}

Deno.test("a year of voice entries agrees with twelve statements to the cent", async () => {
  await using database = await openDatabase();
  const months = makeYear(2026, 20261123);
  for (let day = "2026-01-01"; day < "2027-01-01"; day = daysAfter(day, 5)) {
    await addRate(database, "USD", day, String(USD_RATE));
  }
  const books = await openBooks(database, { day: "2026-01-01" });
  await addBills(books);
  let asked = 0;
  for (const month of months) {
    books.goTo(`${month.month}-28`);
    await say(books, month.said.filter(({ date }) => date <= books.today()));
    books.goTo(daysAfter(`${month.month}-28`, 7));
    await say(books, month.said.filter(({ date }) => date > `${month.month}-28`));
    asked += await importMonth(books, database, month);
  }
  const rows = months.flatMap(({ booked }) => booked);
  const said = months.flatMap((month) => month.said);
  assert(said.length > 600 && rows.length > 700, `${said.length} said, ${rows.length} rows`);
  assert(asked > 0, "nothing was asked: the year has no doubtful row");
  assert(asked * 100 <= rows.length * MOST_ASKED_PERCENT, `${asked} of ${rows.length} rows were asked`);

  const agreed = await books.ok("reconcile", { account: "Giro" });
  const spent = rows.reduce((sum, { cents }) => sum + cents, 0);
  assertEquals(agreed.bank_only, []);
  assertEquals(agreed.totals.bank, { EUR: (spent / 100).toFixed(2) });
  // Only the cash payments are missing at the bank.
  const inCash = cashOf(months).filter(({ date }) => date >= agreed.from && date <= agreed.to);
  assertEquals(
    agreed.books_only.map(({ date, name, amount }: Json) => `${date} ${name} ${amount}`).toSorted(),
    inCash.map(({ date, name, amount }) => `${date} ${name} ${amount}`).toSorted(),
  );
  const cash = inCash.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0);
  assertEquals(agreed.totals.difference, { EUR: (-cash / 100).toFixed(2) });

  // Overlapping files, again and again.
  const total = (await books.call("list_expenses")).totals_by_currency;
  for (const [one, other] of [[0, 1], [6, 7]] as const) {
    const again = await preview(books, [...months[one]!.booked, ...months[other]!.booked]);
    assertEquals([again.rows_ok, again.questions], [0, []]);
    await books.ok("import_expenses", again.commit_with);
  }
  assertEquals((await books.call("list_expenses")).totals_by_currency, total);
  assertEquals((await books.ok("reconcile", { account: "Giro" })).totals, agreed.totals);
});
