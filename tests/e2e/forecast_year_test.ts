/**
 * A year of statements, imported month by month. After each month the balances agree with the banks, new recurring
 * charges are proposed, and the forecast's range contains the real balances of the next weeks.
 */
import { assert, assertEquals } from "@std/assert";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { daysAfter } from "../../shared/iso_day.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { IS_SHORT } from "../_support/short_form.ts";
import { type Account, balanceOn, CHARGED, type Line, makeHousehold, MONTHS, YEAR } from "./forecast_year/household.ts";

const DAYS_AHEAD = 45;
const LEAST_INSIDE_PERCENT = 90;
/** The maximum width of the range 45 days ahead. A range much wider than a month's spending would be useless. */
const WIDEST_MONTHS = 1.25;
/** The statements in hand when the household signs the new lease. */
const BEFORE_MOVE = `${YEAR}-04`;

const SALARIES = [
  { kind: "income", name: "Acme GmbH", amount: "2850", date: `${YEAR - 1}-12-28`, repeats: "monthly" },
  { kind: "income", name: "Praxis Dr Weber", amount: "1620", date: `${YEAR - 1}-12-15`, repeats: "monthly" },
];

const euros = (cents: number) => (cents / 100).toFixed(2);

/** Imports a month of an account, and answers the questions about its rows as the household would. */
async function importMonth(books: Books, database: TestDatabase, account: Account, lines: Line[]): Promise<void> {
  let balance = balanceOn(account, daysAfter(lines[0]!.date, -1));
  const rows = lines.map(({ date, text, cents }) => `${date},${text},${euros(cents)},${euros(balance += cents)}`);
  const parsed = importExpenses.parse({
    csv: ["Date,Name,Amount,Balance", ...rows].join("\n"),
    account: account.name,
    mapping: { negative_is_expense: true },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  let { preview } = await books.ok("import_expenses", parsed.value);
  const read = await database.query<{ line: number; match: Json }>(
    "select r.line, r.match from app.import_rows as r where r.import_id = $1 order by r.line",
    [preview.import_id],
  );
  assertEquals(read.length, lines.length);
  const answers: Record<string, string> = {};
  for (const [index, { line, match }] of read.entries()) {
    if (match?.state !== "likely") continue;
    const { kind } = lines[index]!;
    const same = match.candidates.filter(({ state }: Json) => (state === "transfer") === (kind === "transfer"));
    const isSole = match.candidates.length === 1 && same[0]?.id !== "transfer";
    answers[`row_${line}`] = same.length === 0 || kind === "income" ? "new" : isSole ? "same" : same[0].id;
  }
  if (Object.keys(answers).length > 0) {
    ({ preview } = await books.ok("import_expenses", { import_id: preview.import_id, answers }));
  }
  await books.ok("import_expenses", preview.commit_with);
}

/** Adds the proposed bills, refuses the others, and ends those whose charges stopped. @returns the false proposals */
async function tendBills(books: Books, seen: Map<string, number>, added: Set<string>): Promise<string[]> {
  const { recurring_charges, stopped_charges } = await books.ok("review_bills");
  const wrong: string[] = [];
  for (const { name, amount, frequency, every, next_on, lowest } of recurring_charges) {
    const truth = CHARGED.find((text) => text === String(name).toUpperCase());
    if (!truth) {
      wrong.push(name);
      await books.ok("update_settings", { payee_rules: [{ payee: name, no_bill: true }] });
      continue;
    }
    added.add(truth);
    await books.ok("add_bill", {
      name,
      amount,
      frequency,
      every,
      first_due: next_on ?? books.today(),
      ...(lowest && { amount_mode: "estimated" }),
    });
  }
  for (const [text, count] of seen) if (count >= 3) assert(added.has(text), `${text} was not proposed`);
  for (const { bill_id, due_on } of stopped_charges) {
    await books.ok("update_bill", { bill_id, set: { status: "cancelled" }, apply_from: due_on });
  }
  return wrong;
}

/** Ends the old rent and adds the new one, as in the lease. @returns the charge of the new one */
async function moveHouse(books: Books): Promise<string> {
  const { bills } = await books.ok("list_bills");
  const { id } = bills.find(({ name }: Json) => /MIETE/i.test(name));
  await books.ok("update_bill", { bill_id: id, set: { ends_on: `${YEAR}-05-31` } });
  await books.ok("add_bill", { name: "Immo Sued Wohnen Miete", amount: "1390", first_due: `${YEAR}-06-01` });
  return "IMMO SUED WOHNEN MIETE";
}

/** The expected total of each day, as the tool computes it. */
const daysOf = (database: TestDatabase, books: Books, until: string) =>
  database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    async (session) =>
      await session.query<{ day: string; low: number; likely: number; high: number }>(
        `select d.day::text, d.low, d.likely, d.high
       from app.read_context($1) as c
       cross join lateral app.read_forecast(c, $2) as b
       cross join lateral app.forecast_days(c, b.positions, b.events, $2) as d
       where d.account_id is null order by d.day`,
        [`${books.today()}T12:00:00Z`, until],
      ),
  );

for (const seed of IS_SHORT ? [20261129] : [20261129, 7, 4242]) {
  Deno.test(`a household's year (${seed}): balances agree, charges are proposed, and the forecast's range holds`, async () => {
    const database = await openDatabase();
    try {
      const accounts = makeHousehold(seed);
      const books = await openBooks(database, { day: `${YEAR}-01-01` });
      const seen = new Map<string, number>();
      const added = new Set<string>();
      const checked: { day: string; isInside: boolean; width: number }[] = [];
      await books.ok("log_expenses", { items: SALARIES });
      for (const [number, month] of MONTHS.entries()) {
        books.goTo(MONTHS[number + 1] ? `${MONTHS[number + 1]}-02` : `${YEAR + 1}-01-02`);
        const known: [string, string][] = [];
        for (const account of accounts) {
          const lines = account.lines.filter(({ date }) => date.startsWith(month));
          if (lines.length > 0) await importMonth(books, database, account, lines);
          for (const { text, kind } of lines) if (kind === "charge") seen.set(text, (seen.get(text) ?? 0) + 1);
          const last = account.lines.findLast(({ date }) => date <= `${month}-31`);
          if (last) known.push([account.name, euros(balanceOn(account, last.date))]);
        }
        const { accounts: told } = await books.ok("get_context", { include: ["balances"] });
        assertEquals(told.map(({ account, amount }: Json) => [account, amount]).toSorted(), known.toSorted());
        const wrong = await tendBills(books, seen, added);
        assert(wrong.length <= 1, `${month}: ${wrong}`);
        if (month === BEFORE_MOVE) added.add(await moveHouse(books));

        const until = daysAfter(books.today(), DAYS_AHEAD);
        const { total } = await books.ok("forecast", { until });
        const days = await daysOf(database, books, until);
        assertEquals(days.length, DAYS_AHEAD + 1);
        assertEquals(total.end.likely, euros(Math.round(days.at(-1)!.likely)));
        for (const { day, low, high } of days.slice(1)) {
          if (day > `${YEAR}-12-31`) break;
          const real = accounts.reduce((sum, account) => sum + balanceOn(account, day), 0);
          checked.push({ day: `${books.today()} ${day}`, isInside: low <= real && real <= high, width: high - low });
        }
      }
      const inside = checked.filter(({ isInside }) => isInside).length;
      const spent = accounts.flatMap(({ lines }) => lines)
        .filter(({ kind }) => kind === "spending" || kind === "charge").reduce((sum, { cents }) => sum - cents, 0);
      const widths = checked.map(({ width }) => width).toSorted((a, b) => a - b);
      const median = widths[Math.floor(widths.length / 2)]!;
      // deno-lint-ignore no-console -- the share is the result
      console.log(
        `Seed ${seed}: ${inside} of ${checked.length} days inside; the median width is ${
          euros(median)
        }, a month costs ${euros(spent / 12)}`,
      );
      assert(
        inside * 100 >= checked.length * LEAST_INSIDE_PERCENT,
        `${inside} of ${checked.length} days are inside: ${
          checked.filter(({ isInside }) => !isInside).map((c) => c.day)
        }`,
      );
      assert(
        median <= spent / 12 * WIDEST_MONTHS,
        `the median width is ${euros(median)}, a month costs ${euros(spent / 12)}`,
      );
      const summary = await books.ok("summarize_spending", { from: `${YEAR}-01-01`, to: `${YEAR}-12-31` });
      assertEquals(summary.total.amount, euros(spent));
    } finally {
      await database.close();
    }
  });
}
