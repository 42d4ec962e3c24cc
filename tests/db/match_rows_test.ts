/** Matching statement rows with expenses: each rule, and no double matches. */
import { assertEquals } from "@std/assert";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, confirmed, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

type Row = [date: string, name: string, amount: string];

interface Matched {
  preview: Json;
  /** The match of each row. */
  states: string[];
  matches: Json[];
  /** Commits with these answers. */
  commit(answers?: Record<string, string>): Promise<Json>;
}

/** A statement of an account; a minus is spending. */
async function match(
  books: Books,
  database: TestDatabase,
  rows: Row[],
  { account = "Giro", ...more }: Record<string, unknown> = {},
): Promise<Matched> {
  const csv = `Date,Name,Amount\n${rows.map((row) => row.join(",")).join("\n")}\n`;
  const parsed = importExpenses.parse({ csv, account, mapping: { negative_is_expense: true }, ...more });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const { preview } = await books.ok("import_expenses", parsed.value);
  const staged = await database.query<{ match: Json }>(
    "select match from app.import_rows where import_id = $1 and kind in ('expense', 'refund') order by line",
    [preview.import_id],
  );
  const matches = staged.map(({ match }) => match);
  return {
    preview,
    matches,
    states: matches.map((match) => match?.state),
    commit: (answers) => books.call("import_expenses", { ...preview.commit_with, ...(answers && { answers }) }),
  };
}

const log = async (books: Books, ...items: Json[]): Promise<string[]> =>
  (await books.ok("log_expenses", { items, on_duplicate: "allow" })).results.map(({ id }: Json) => id);
const totals = async (books: Books) => (await books.call("list_expenses")).totals_by_currency;
const candidates = ({ matches }: Matched, index: number) => matches[index].candidates?.map(({ id }: Json) => id);

testBooks("matching a statement", { day: "2026-10-20" }, {
  "matches payee names as cards write them": async (books, database) => {
    await log(
      books,
      { name: "Lidl", amount: "23.45", date: "2026-10-03" },
      { name: "Uber", amount: "17.30", date: "2026-10-04" },
      { name: "Spotify", amount: "9.99", date: "2026-10-04" },
      { name: "Blue Bottle Coffee", amount: "5.50", date: "2026-10-05" },
      { name: "Amazon", amount: "31.00", date: "2026-10-05" },
      { name: "Starbucks", amount: "4.20", date: "2026-10-06" },
    );
    const { states, commit } = await match(books, database, [
      ["2026-10-04", "LIDL SAGT DANKE 4411", "-23.45"],
      ["2026-10-05", "UBER *TRIP", "-17.30"],
      ["2026-10-05", "PAYPAL *SPOTIFY", "-9.99"],
      ["2026-10-06", "SQ *BLUE BOTTLE", "-5.50"],
      ["2026-10-08", "AMZN Mktp DE*2K3", "-31.00"],
      ["2026-10-09", "STARBUCKS 12345 BERLIN", "-4.20"],
    ]);
    assertEquals(states, Array(6).fill("linked"));
    assertEquals((await commit()).data.created, 0);
    assertEquals(await totals(books), { EUR: "91.44" });
  },
  "links a row five days from the payment, but not six": async (books, database) => {
    await log(
      books,
      { name: "Lidl", amount: "23.45", date: "2026-10-02" },
      { name: "Rewe", amount: "9.00", date: "2026-10-02" },
      { name: "Kaufland", amount: "11.10", date: "2026-10-02" },
      { name: "Kaufland", amount: "22.20", date: "2026-10-02" },
    );
    const { states } = await match(books, database, [
      ["2026-10-07", "LIDL", "-23.45"],
      ["2026-10-08", "REWE", "-9.00"],
      ["2026-10-07", "KAUFLAND BERLIN", "-33.30"],
    ]);
    assertEquals(states, ["linked", "new", "linked"]);
  },
  "adds no payment of another account's statement to a sum": async (books, database) => {
    await (await match(books, database, [["2026-10-02", "KAUFLAND", "-11.10"]])).commit();
    await log(books, { name: "Kaufland", amount: "22.20", date: "2026-10-02" });
    const { states } = await match(books, database, [["2026-10-03", "KAUFLAND BERLIN", "-33.30"]], { account: "Card" });
    assertEquals(states, ["new"]);
  },
  "adds no payment that another row takes to a sum": async (books, database) => {
    await log(
      books,
      { name: "Kaufland", amount: "11.10", date: "2026-10-02" },
      { name: "Kaufland", amount: "22.20", date: "2026-10-02" },
    );
    const { states } = await match(books, database, [
      ["2026-10-02", "KAUFLAND BERLIN", "-11.10"],
      ["2026-10-03", "KAUFLAND BERLIN", "-33.30"],
    ]);
    assertEquals(states, ["linked", "new"]);
  },
  "does not match a refund with a known purchase of the same day, amount and text": async (books, database) => {
    await (await match(books, database, [["2026-10-02", "ZALANDO REFUND", "-40.00"]])).commit();
    const { states } = await match(books, database, [["2026-10-02", "ZALANDO REFUND", "40.00"]]);
    assertEquals(states, ["new"]);
  },
  "does not match payments six days away or refunds with expenses": async (books, database) => {
    await log(
      books,
      { name: "Lidl", amount: "23.45", date: "2026-10-01" },
      { name: "Zalando", amount: "40.00", date: "2026-10-05" },
    );
    const { states } = await match(books, database, [
      ["2026-10-07", "LIDL", "-23.45"],
      ["2026-10-06", "ZALANDO REFUND", "40.00"],
      ["2026-10-08", "Rewe", "-1.00"],
    ]);
    assertEquals(states.filter((state) => state !== "new"), []);
  },
  "pairs daily coffees in order and adds the unrecorded one": async (books, database) => {
    const days = ["01", "02", "05", "06", "07", "08", "09", "12"];
    const ids = await log(
      books,
      ...days.map((day) => ({ name: "Starbucks", amount: "4.20", date: `2026-10-${day}` })),
    );
    const booked = ["02", "05", "06", "07", "08", "09", "12", "13", "19"];
    const { states, matches } = await match(
      books,
      database,
      booked.map((day): Row => [`2026-10-${day}`, "STARBUCKS 12345 BERLIN", "-4.20"]),
    );
    assertEquals(states, [...Array(8).fill("linked"), "new"]);
    assertEquals(new Set(matches.slice(0, 8).map(({ payment_ids }) => payment_ids[0])).size, ids.length);
  },
  "matches one payment once, even across pages": async (books, database) => {
    await log(books, { name: "Lidl", amount: "7.00", date: "2026-10-03" });
    const { states, preview } = await match(books, database, [
      ["2026-10-03", "LIDL 1", "-7.00"],
      ["2026-10-04", "LIDL 2", "-7.00"],
    ]);
    assertEquals(states, ["linked", "new"]);
    // Changes only the other page during the matching of the first.
    await database.asRole(
      "authenticated",
      { sub: books.userId, organization_id: books.organizationId },
      async (session) => {
        // Does the same as app.run_tool.
        await session.query("set local jit = off");
        await session.query(
          `select app.match_import_rows(app.read_context('2026-10-20T12:00:00Z'), b, 3, 3) from app.import_batches as b
           where b.id = $1`,
          [preview.import_id],
        );
      },
    );
    const [second] = await database.query<{ match: Json }>(
      "select match from app.import_rows where import_id = $1 and line = 3",
      [preview.import_id],
    );
    assertEquals(second!.match.state, "new");
  },
  "asks when only amount and day agree, and accepts both answers": async (books, database) => {
    for (const [answer, total] of [["same", "12.40"], ["new", "37.20"]] as const) {
      const [groceries] = await log(books, { name: "Groceries", amount: "12.40", date: "2026-10-03" });
      const asked = await match(books, database, [["2026-10-04", "EDEKA NORD", "-12.40"]], { account: answer });
      assertEquals([asked.states, candidates(asked, 0)], [["likely"], [groceries]]);
      assertEquals(asked.preview.questions.map(({ id, options }: Json) => [id, options]), [["row_2", [
        "same",
        "new",
      ]]]);
      assertEquals((await asked.commit()).error.code, "needs_answer");
      const { data } = await asked.commit({ row_2: answer });
      // Another answer changes the expected count.
      if (!data) {
        const again = await books.ok("import_expenses", {
          import_id: asked.preview.import_id,
          answers: { row_2: answer },
        });
        await books.ok("import_expenses", again.preview.commit_with);
      }
      assertEquals(await totals(books), { EUR: total });
    }
  },
  "asks about a row that matches two payments": async (books, database) => {
    const [one, two] = await log(
      books,
      { name: "Shell", payee: "Shell North", amount: "50.00", date: "2026-10-03" },
      { name: "Shell", payee: "Shell South", amount: "50.00", date: "2026-10-03" },
    );
    const asked = await match(books, database, [["2026-10-04", "SHELL 4711", "-50.00"]]);
    assertEquals([asked.states, candidates(asked, 0).toSorted()], [["likely"], [one, two].toSorted()]);
  },
  "matches dollars with euros within 4 % of the day's rate": async (books, database) => {
    await addRate(database, "USD", "2026-10-05", "1.1150");
    const [far, near] = await log(
      books,
      { name: "Figma", amount: "40", currency: "USD", date: "2026-10-05" },
      { name: "ChatGPT Plus", amount: "20", currency: "USD", date: "2026-10-05" },
    );
    const { states, commit } = await match(books, database, [
      ["2026-10-06", "OPENAI *CHATGPT SUBSCR", "-17.94"],
      ["2026-10-06", "FIGMA", "-40.00"],
    ]);
    assertEquals(states, ["linked", "new"]);
    await commit();
    const { rows } = await books.ok("list_expenses");
    const row = (id: string) => rows.find((row: Json) => row.id === id);
    assertEquals([row(near!).charged, row(near!).base_amount], [{ amount: "17.94", currency: "EUR" }, "17.94"]);
    assertEquals(row(far!).charged, undefined);
  },
  "corrects an estimate when a person confirms a row of another amount as its match": async (books, database) => {
    books.goTo("2026-10-01");
    await books.ok("add_bill", {
      ...{ name: "Electricity", payee: "Vattenfall", amount: "84.00", amount_mode: "estimated", autopay: true },
      first_due: "2026-10-18",
    });
    books.goTo("2026-10-20");
    const matched = await match(books, database, [["2026-10-19", "VATTENFALL", "-119.90"], [
      "2026-10-19",
      "Book shop",
      "-12.00",
    ]]);
    assertEquals(matched.states, ["likely", "new"]);
    const { import_id } = matched.preview;
    const { preview } = await books.ok("import_expenses", { import_id, answers: { row_2: "same" } });
    assertEquals([preview.totals, preview.corrects.length], [{ EUR: "47.90" }, 1]);
    const { data, error } = await books.call("import_expenses", preview.commit_with);
    assertEquals([error, data?.linked, data?.totals], [undefined, 1, { EUR: "47.90" }]);
    assertEquals(await totals(books), { EUR: "131.90" });
  },
  "leaves a row of a closed month out of the books until the month is reopened": async (books, database) => {
    await books.ok("update_settings", { closed_through: "2026-09" });
    const rows: Row[] = [["2026-09-20", "Chairs", "-79.02"], ["2026-10-05", "Book shop", "-20.00"]];
    const first = await match(books, database, rows);
    assertEquals([first.preview.rows_ok, first.preview.rows_bad_count], [1, 1]);
    assertEquals((await first.commit()).data.created, 1);
    const proof = async () => {
      const { bank_only, totals } = await books.ok("reconcile", { account: "Giro" });
      return [bank_only.map(({ amount }: Json) => amount), totals.difference];
    };
    assertEquals(await proof(), [["79.02"], { EUR: "79.02" }]);
    // While the month is still closed, the same file adds nothing.
    const closed = await match(books, database, rows);
    assertEquals((await closed.commit()).data.created, 0);
    assertEquals(await proof(), [["79.02"], { EUR: "79.02" }]);
    await books.ok("update_settings", { closed_through: "" });
    const reopened = await match(books, database, rows);
    assertEquals([reopened.preview.rows_ok, reopened.states], [1, ["new", "known"]]);
    assertEquals((await reopened.commit()).data.created, 1);
    assertEquals(await proof(), [[], { EUR: "0.00" }]);
    assertEquals(await totals(books), { EUR: "99.02" });
  },
  "pays a bill's open date and corrects an estimate to the charged amount": async (books, database) => {
    books.goTo("2026-10-01");
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "950", first_due: "2026-10-03" });
    await books.ok("add_bill", {
      name: "Vattenfall",
      amount: "80",
      amount_mode: "estimated",
      autopay: true,
      first_due: "2026-10-05",
    });
    books.goTo("2026-10-20");
    const { states, commit, preview } = await match(books, database, [
      ["2026-10-05", "RENT HAUSVERWALTUNG", "-950.00"],
      ["2026-10-06", "VATTENFALL EUROPE", "-83.17"],
    ]);
    assertEquals(states, ["linked", "linked"], JSON.stringify(preview));
    const rent = { line: 2, bill_id: bill.id, name: "Rent", due_on: "2026-10-03", amount: "950.00", currency: "EUR" };
    const gas = { line: 3, name: "Vattenfall", date: "2026-10-05", was: "80.00", amount: "83.17", currency: "EUR" };
    const corrects = preview.corrects.map(({ id: _, ...one }: Json) => one);
    assertEquals([preview.pays, corrects], [[rent], [gas]]);
    // The commit requires confirmation of all effects on the books, not only of new rows.
    assertEquals([preview.rows_ok, preview.commit_with.expected_totals], [0, { EUR: "953.17" }]);
    assertEquals([preview.duplicates.map(({ line }: Json) => line), preview.duplicates_count], [[3], 1]);
    assertEquals(preview.rows.map((row: Json) => [row.line, row.as, row.of]), [
      [2, "pays", "Rent"],
      [3, "linked", "Vattenfall"],
    ]);
    const { data, change_id, error } = await commit();
    assertEquals(error, undefined);
    assertEquals([data.created, data.linked, data.pays, data.totals], [0, 2, [rent], { EUR: "953.17" }]);
    assertEquals(await totals(books), { EUR: "1033.17" });
    const [{ summary }] = (await books.ok("get_context", { include: ["recent_changes"] })).recent_changes;
    assertEquals(
      summary,
      "Imported 0 expenses; paid 1 bill: Rent 950.00 EUR; corrected 1 estimate: Vattenfall 80.00 EUR to 83.17 EUR",
    );
    const statusOfRent = async () => {
      const [date] = await database.query<{ status: string }>(
        "select status from app.expense_occurrences where expense_id = $1 order by scheduled_on limit 1",
        [bill.id],
      );
      return date!.status;
    };
    const paid = (await books.ok("list_expenses")).rows.map(({ name, date, amount, is_estimate }: Json) => [
      name,
      date,
      amount,
      is_estimate,
    ]);
    assertEquals(paid, [["Rent", "2026-10-05", "950.00", undefined], ["Vattenfall", "2026-10-05", "83.17", undefined]]);
    assertEquals(await statusOfRent(), "paid");
    // An existing payment of a bill is not recorded again.
    const again = await match(books, database, [["2026-10-05", "RENT HAUSVERWALTUNG", "-950.00"]], { account: "Giro" });
    assertEquals(again.states, ["known"]);
    await books.ok("undo_change", { change_id });
    assertEquals(await statusOfRent(), "open");
  },
  "keeps the tax of a row that pays a bill": async (books, database) => {
    const agency = await openBooks(database, { day: "2026-10-20" });
    await log(agency, { name: "Hosting", amount: "119", tax_percent: 19 });
    const { csv } = await agency.ok("list_expenses", { format: "csv" });
    await books.ok("add_bill", { name: "Hosting", amount: "119", first_due: "2026-10-20" });
    const { value } = importExpenses.parse({ csv, account: "Card" }) as Json;
    const { preview } = await books.ok("import_expenses", value);
    assertEquals(preview.pays.length, 1);
    await books.ok("import_expenses", preview.commit_with);
    const [row] = (await books.ok("list_expenses")).rows;
    assertEquals([row.kind, row.amount, row.tax, row.tax_percent], ["bill_payment", "119.00", "19.00", 19]);
  },
  "matches a split, several expenses of a day, and several rows for one expense": async (books, database) => {
    const ids = await log(
      books,
      { name: "Ikea", amount: "30.00", date: "2026-10-01", split: [{ amount: "20" }, { note: "lamp" }] },
      { name: "Kaufland", amount: "11.10", date: "2026-10-05" },
      { name: "Kaufland", amount: "22.20", date: "2026-10-05" },
      { name: "Kaufland", amount: "5.00", date: "2026-10-05" },
      { name: "Hornbach", amount: "70.00", date: "2026-10-09" },
    );
    const { states, matches, commit } = await match(books, database, [
      ["2026-10-02", "IKEA 123", "-30.00"],
      ["2026-10-06", "KAUFLAND BERLIN", "-33.30"],
      ["2026-10-10", "HORNBACH 1", "-50.00"],
      ["2026-10-10", "HORNBACH 2", "-20.00"],
    ]);
    assertEquals(states, Array(4).fill("linked"));
    assertEquals(matches.map(({ payment_ids }) => payment_ids.length), [2, 2, 1, 1]);
    assertEquals(ids.length, 5);
    await commit();
    assertEquals(await totals(books), { EUR: "138.30" });
  },
  "adds nothing from overlapping files, even reworded, and restores no deleted payment": async (
    books,
    database,
  ) => {
    const first = await match(books, database, [
      ["2026-10-02", "IKEA 123", "-30.00"],
      ["2026-10-02", "IKEA 123", "-30.00"],
      ["2026-10-03", "LIDL SAGT DANKE 4411", "-5.00"],
    ]);
    await first.commit();
    assertEquals(await totals(books), { EUR: "65.00" });
    const [{ id }] = (await books.ok("list_expenses", { query: "LIDL" })).rows;
    await books.ok("delete_records", { ids: [id] });
    const second = await match(books, database, [
      ["2026-10-02", "IKEA 123", "-30.00"],
      ["2026-10-02", "IKEA 123", "-30.00"],
      ["2026-10-03", "LIDL SAGT DANKE", "-5.00"],
      ["2026-10-04", "LIDL SAGT DANKE", "-6.00"],
    ]);
    assertEquals(second.states, ["known", "known", "known", "new"]);
    await second.commit();
    assertEquals(await totals(books), { EUR: "66.00" });
  },
  "recognizes reworded equal lines of a day one by one": async (books, database) => {
    const three = (name: string): Row[] => Array.from({ length: 3 }, () => ["2026-10-02", name, "-30.00"]);
    await (await match(books, database, three("IKEA 123"))).commit();
    const again = await match(books, database, [...three("IKEA BERLIN"), ["2026-10-02", "IKEA BERLIN", "-30.00"]]);
    assertEquals(again.states, ["known", "known", "known", "new"]);
    assertEquals(await totals(books), { EUR: "90.00" });
  },
  "matches an expense in the base currency with a foreign account's charge": async (
    books,
    database,
  ) => {
    await addRate(database, "USD", "2026-10-02", "1.10");
    await log(books, { name: "Lidl", amount: "10.00", date: "2026-10-02" });
    const more = { account: "US card", default_currency: "USD" };
    const { states, commit, preview } = await match(books, database, [["2026-10-02", "LIDL", "-11.00"]], more);
    assertEquals(states, ["linked"], JSON.stringify(preview));
    assertEquals((await commit()).data.linked, 1);
    const { bank_only, books_only, totals: sums } = await books.ok("reconcile", { account: "US card" });
    assertEquals([bank_only, books_only, sums.difference], [[], [], { USD: "0.00" }]);
  },
  "asks before it matches another account's payment": async (books, database) => {
    const rows: Row[] = [["2026-10-02", "PAYPAL *SPOTIFY", "-9.99"]];
    await (await match(books, database, rows)).commit();
    const other = await match(books, database, [["2026-10-01", "Spotify", "-9.99"]], { account: "PayPal" });
    assertEquals(other.states, ["likely"]);
  },
  "links rows to expenses of a closed month but pays no bill there": async (books, database) => {
    books.goTo("2026-09-01");
    await books.ok("add_bill", { name: "Rent", amount: "950", first_due: "2026-09-03", frequency: "once" });
    await log(books, { name: "Lidl", amount: "23.45", date: "2026-09-01" });
    books.goTo("2026-10-20");
    await books.ok("update_settings", { closed_through: "2026-09" });
    const { states, commit, preview } = await match(books, database, [
      ["2026-09-02", "LIDL SAGT DANKE", "-23.45"],
      ["2026-09-03", "RENT", "-950.00"],
      ["2026-10-03", "Rewe", "-1.00"],
    ]);
    assertEquals([states, preview.rows_bad_count], [["linked", "new", "new"], 1]);
    assertEquals((await commit()).data.created, 1);
  },
  "lists every row with its outcome, page by page": async (books, database) => {
    await log(books, { name: "Lidl", amount: "23.45", date: "2026-10-03" });
    const many = Array.from({ length: 58 }, (_, n): Row => ["2026-10-05", `Shop ${n}`, `-${n + 1}.00`]);
    const { preview } = await match(books, database, [
      ["2026-10-04", "LIDL SAGT DANKE", "-23.45"],
      ["2026-10-04", "Internal transfer", "-100.00"],
      ["2030-01-01", "Later", "-1.00"],
      ...many,
    ]);
    assertEquals(preview.rows.slice(0, 4).map((row: Json) => [row.line, row.as, row.name, row.amount, row.of]), [
      [2, "linked", "LIDL SAGT DANKE", "23.45", "Lidl"],
      [3, "own_transfer", "Internal transfer", "100.00", undefined],
      [4, "bad", "Later", "1.00", undefined],
      [5, "new", "Shop 0", "1.00", undefined],
    ]);
    assertEquals([preview.rows.length, preview.next_line], [50, 51]);
    const next = (await books.ok("import_expenses", { import_id: preview.import_id, after_line: 51 })).preview;
    assertEquals([next.rows.length, next.rows.at(-1).line, next.next_line], [11, 62, undefined]);
  },
  "reconcile names skipped, refused, unreadable and foreign lines": async (
    books,
    database,
  ) => {
    await addRate(database, "USD", "2026-10-05", "1.1150");
    await log(
      books,
      { name: "Hotel", amount: "412.80", currency: "USD", date: "2026-10-03" },
      { name: "Lamp", amount: "9.00", date: "2026-10-03" },
    );
    const rows: Row[] = [
      ["2026-10-02", "Bread", "-3.00"],
      ["2026-10-03", "Tea", "-2.00"],
      ["2030-10-03", "Later", "-7.00"],
      ["2026-10-04", "Broken", "x"],
      ["no day", "Undated", "-5.00"],
    ];
    const { preview } = await match(books, database, rows);
    assertEquals([preview.rows_ok, preview.rows_bad_count], [2, 3]);
    const fewer = await books.ok("import_expenses", { import_id: preview.import_id, skip_lines: [3] });
    await books.ok("import_expenses", fewer.preview.commit_with);
    const proof = async () => {
      const { bank_only, books_only, totals } = await books.ok("reconcile", { account: "Giro" });
      const named = bank_only.map(({ text, amount, kind, skipped }: Json) => [text, amount, skipped ?? kind]);
      return [named.toSorted(), books_only.map(({ amount, currency }: Json) => [amount, currency]), totals];
    };
    const [named, only, totals] = await proof();
    assertEquals(named, [
      ["Broken", undefined, "unreadable"],
      ["Later", "7.00", "expense"],
      ["Tea", "2.00", true],
      ["Undated", "5.00", "expense"],
    ]);
    assertEquals(only, [["412.80", "USD"], ["9.00", "EUR"]]);
    assertEquals(totals, {
      bank: { EUR: "17.00" },
      books: { EUR: "12.00", USD: "412.80" },
      difference: { EUR: "5.00", USD: "-412.80" },
    });
    // A corrected row is no longer reported as unreadable.
    const again = await match(books, database, rows);
    const corrections = [{ line: 5, name: "Broken", amount: "4.00", date: "2026-10-04" }];
    const fixed = await books.ok("import_expenses", { import_id: again.preview.import_id, corrections });
    assertEquals(fixed.preview.rows_ok, 1);
    await books.ok("import_expenses", fixed.preview.commit_with);
    assertEquals((await proof())[0].map(([text]: Json) => text), ["Later", "Tea", "Undated"]);
  },
  "matches an exact foreign price within days, whatever the names": async (books) => {
    await log(books, { name: "Hotel", amount: "412.80", currency: "USD", date: "2026-10-07" }, {
      ...{ name: "Books", amount: "20.00", currency: "USD", date: "2026-10-07" },
    });
    const head = '"Belegdatum";"Wertstellung";"Status";"Beschreibung";"Umsatztyp";"Betrag (€)";"Fremdwährungsbetrag"';
    const row = (day: string, name: string, euros: string, dollars: string) =>
      `"${day}.10.26";"${day}.10.26";"Gebucht";"${name}";"Im Geschäft";"${euros} €";"${dollars}"`;
    const csv = [
      head,
      row("09", "POD 51 NEW YORK", "-367,12", "-412,80 USD"),
      row("13", "Too late", "-17,90", "-20,00 USD"),
      row("08", "A cent more", "-17,91", "-20,01 USD"),
    ].join("\n");
    const parsed = importExpenses.parse({ csv, account: "Card" });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
    const { preview } = await books.ok("import_expenses", parsed.value);
    assertEquals(preview.rows.map((one: Json) => [one.as, one.of]), [["linked", "Hotel"], ["new", undefined], [
      "new",
      undefined,
    ]]);
    await books.ok("import_expenses", preview.commit_with);
    const { rows } = await books.ok("list_expenses", { query: "Hotel" });
    assertEquals(rows[0].charged, { amount: "367.12", currency: "EUR" });
    assertEquals(await totals(books), { USD: "472.81" });
  },
  "asks whether a slightly higher restaurant charge includes a tip": async (books, database) => {
    await log(
      books,
      { name: "Diner", amount: "20.00", date: "2026-10-05" },
      { name: "Taxi Berlin", amount: "10.00", date: "2026-10-05" },
      { name: "Kaufland", amount: "20.00", date: "2026-10-05" },
    );
    const asked = await match(books, database, [
      ["2026-10-06", "DINER NYC", "-26.00"],
      ["2026-10-06", "TAXI BERLIN", "-13.01"],
      ["2026-10-06", "KAUFLAND", "-24.00"],
      ["2026-10-12", "DINER NYC", "-24.00"],
    ]);
    assertEquals(asked.states, ["likely", "new", "new", "new"]);
    assertEquals(
      asked.preview.questions[0].message,
      'Line 2, "DINER NYC", 26.00 EUR on 6 Oct: is it "Diner", 20.00 EUR on 5 Oct in the books, with a tip, or a new ' +
        "expense?",
    );
    const { import_id } = asked.preview;
    const { preview } = await books.ok("import_expenses", { import_id, answers: { row_2: "same" } });
    assertEquals([preview.totals, preview.corrects.map(({ was, amount }: Json) => [was, amount])], [
      { EUR: "67.01" },
      [["20.00", "26.00"]],
    ]);
    const { change_id } = await books.call("import_expenses", preview.commit_with);
    assertEquals(await totals(books), { EUR: "117.01" });
    assertEquals((await books.ok("reconcile", { account: "Giro" })).totals.difference, { EUR: "0.00" });
    await books.ok("undo_change", { change_id });
    assertEquals(await totals(books), { EUR: "50.00" });
  },
  "asks about a bill only for the row with its name, not for one with its amount": async (books, database) => {
    books.goTo("2026-10-01");
    await books.ok("add_bill", { name: "Gym FitX", amount: "29.90", first_due: "2026-10-05" });
    books.goTo("2026-10-20");
    const bakery: Row = ["2026-10-06", "REWE", "-29.90"];
    const dearer = await match(books, database, [["2026-10-05", "GYM FITX", "-32.90"], bakery]);
    assertEquals(dearer.states, ["likely", "new"]);
    // The row is already in the books, apart from the bill.
    await log(books, { name: "Gym FitX", amount: "29.90", date: "2026-10-05" });
    const logged = await match(books, database, [["2026-10-05", "GYM FITX", "-29.90"], bakery]);
    assertEquals(logged.states, ["linked", "new"]);
  },
  "asks whether a charge with another amount pays a bill, so that no date is paid twice": async (books, database) => {
    books.goTo("2026-10-01");
    const [netflix, power] = [
      { name: "Netflix", amount: "13.99", first_due: "2026-10-05", autopay: true },
      { name: "City Power", amount: "95.00", first_due: "2026-10-06" },
    ];
    await books.ok("add_bill", netflix);
    await books.ok("add_bill", power);
    books.goTo("2026-10-20");
    const asked = await match(books, database, [
      ["2026-10-05", "NETFLIX.COM", "-17.99"],
      ["2026-10-06", "CITY POWER", "-99.00"],
      ["2026-10-06", "CITY POWER", "-9.00"],
      ["2026-10-06", "BAKERY", "-14.50"],
    ]);
    assertEquals(asked.states, ["likely", "likely", "new", "new"]);
    assertEquals(
      asked.preview.questions.map(({ message }: Json) => message),
      [
        'Line 2, "NETFLIX.COM", 17.99 EUR on 5 Oct: is it "Netflix", 13.99 EUR on 5 Oct in the books, or a new expense?',
        'Line 3, "CITY POWER", 99.00 EUR on 6 Oct: is it "City Power", 95.00 EUR on 6 Oct in the books, or a new expense?',
      ],
    );
    const { import_id } = asked.preview;
    const { preview } = await books.ok("import_expenses", { import_id, answers: { row_2: "same", row_3: "same" } });
    const { change_id } = await books.call("import_expenses", preview.commit_with);
    assertEquals((await books.ok("reconcile", { account: "Giro" })).totals.difference, { EUR: "0.00" });
    assertEquals((await books.ok("review_bills")).overdue, []);
    await books.ok("undo_change", { change_id });
    assertEquals(await totals(books), { EUR: "13.99" });
  },
  "a charge with another amount is new if the bill's own charge arrived too": async (books, database) => {
    books.goTo("2026-10-01");
    await books.ok("add_bill", { name: "Amazon Prime", amount: "8.99", first_due: "2026-10-05", autopay: true });
    books.goTo("2026-10-20");
    const rows: Row[] = [["2026-10-05", "AMAZON PRIME", "-8.99"], ["2026-10-06", "AMAZON PRIME", "-9.99"]];
    assertEquals((await match(books, database, rows)).states, ["linked", "new"]);
  },
  "a confirmed date of a bill leaves the bill's other payments unchanged": async (books, database) => {
    books.goTo("2026-09-01");
    const { bill } = await books.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: "2026-09-15" });
    books.goTo("2026-09-15");
    await books.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-09-15", amount: "79.15" });
    books.goTo("2026-10-20");
    const asked = await match(books, database, [["2026-10-15", "POWER", "-90.33"]]);
    assertEquals(asked.states, ["likely"]);
    const { import_id } = asked.preview;
    const { preview } = await books.ok("import_expenses", { import_id, answers: { row_2: "same" } });
    await books.ok("import_expenses", preview.commit_with);
    const { rows } = await books.ok("list_expenses");
    assertEquals(rows.map(({ date, amount }: Json) => [date, amount]), [["2026-10-15", "90.33"], [
      "2026-09-15",
      "79.15",
    ]]);
  },
  "matches a date without an amount with its payee's row near it, and asks unless the payee has nothing else": async (
    books,
    database,
  ) => {
    books.goTo("2026-09-20");
    const { bill } = await books.ok("add_bill", {
      ...{ name: "Power", payee: "Stadtwerke", amount_mode: "variable", frequency: "monthly" },
      first_due: "2026-10-05",
    });
    books.goTo("2026-10-20");
    const elsewhere = await match(books, database, [
      ["2026-10-05", "REWE", "-84.20"],
      ["2026-10-11", "STADTWERKE", "-84.20"],
      ["2026-10-05", "STADTWERKE REFUND", "84.20"],
    ]);
    assertEquals(elsewhere.states, ["new", "new", "new"]);
    assertEquals((await match(books, database, [["2026-10-07", "STADTWERKE", "-84.20"]])).states, ["linked"]);
    // The payee sells another product too, or the days are far apart.
    const bought = await log(books, { name: "Tickets", payee: "Stadtwerke", amount: "9.00", date: "2026-09-02" });
    assertEquals((await match(books, database, [["2026-10-07", "STADTWERKE", "-84.20"]])).states, ["likely"]);
    await books.ok("delete_records", await confirmed(books, bought));
    const rivals = await match(books, database, [["2026-10-07", "STADTWERKE", "-84.20"], [
      "2026-10-03",
      "STADTWERKE",
      "-3.00",
    ]]);
    assertEquals(rivals.states, ["likely", "new"]);
    const asked = await match(books, database, [["2026-10-09", "STADTWERKE", "-84.20"]]);
    assertEquals([asked.states, candidates(asked, 0)], [["likely"], [bill.id]]);
    assertEquals(
      asked.preview.questions[0].message,
      'Line 2, "STADTWERKE", 84.20 EUR on 9 Oct: is it "Power", due on 5 Oct without an amount in the books, or a new ' +
        "expense?",
    );
    const { import_id } = asked.preview;
    const { preview } = await books.ok("import_expenses", { import_id, answers: { row_2: "same" } });
    const { change_id } = await books.call("import_expenses", preview.commit_with);
    const { rows } = await books.ok("list_expenses");
    assertEquals(rows.map(({ name, date, amount }: Json) => [name, date, amount]), [["Power", "2026-10-09", "84.20"]]);
    // The invoice comes last and joins the payment.
    const { document } = await books.ok("attach_document", {
      step: "keep",
      content: btoa("invoice"),
      name: "invoice.xml",
      type: "application/xml",
      facts: {
        ...{ kind: "invoice", format: "ubl", payee: "Stadtwerke GmbH", gross: "84.20", currency: "EUR" },
        ...{ issued_on: "2026-09-25", due_on: "2026-10-05", questions: [] },
      },
    });
    const filed = (await books.ok("attach_document", { document_id: document.id })).document.filed;
    assertEquals(filed, { id: bill.id, name: "Power", due_on: "2026-10-05" });
    await books.ok("undo_change", { change_id });
    assertEquals(await totals(books), {});
  },
  "ignores other organizations' payments": async (books, database) => {
    const other = await openBooks(database, { day: "2026-10-20" });
    await log(other, { name: "Lidl", amount: "23.45", date: "2026-10-03" });
    await match(other, database, [["2026-10-04", "LIDL", "-23.45"], ["2026-10-04", "REWE", "-2.00"]]).then((one) =>
      one.commit()
    );
    const { states } = await match(books, database, [["2026-10-04", "LIDL", "-23.45"], [
      "2026-10-04",
      "REWE",
      "-2.00",
    ]]);
    assertEquals(states, ["new", "new"]);
  },
});
