/** Balances of accounts, from statements and from people, checked against the lines between them. */
import { assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

type Row = [date: string, name: string, amount: string, balance: string];

const commit = async (books: Books, file: string, more: Json = {}): Promise<Json> => {
  const { preview } = await books.ok("import_expenses", importOfFile(file, more));
  return await books.call("import_expenses", preview.commit_with);
};
const statement = (...rows: Row[]) => `Date,Name,Amount,Balance\n${rows.map((row) => row.join(",")).join("\n")}\n`;
const giro = (books: Books, ...rows: Row[]) =>
  commit(books, statement(...rows), { account: "Giro", mapping: { negative_is_expense: true } });
const say = (books: Books, amount: string, more: Json = {}) =>
  books.ok("log_expenses", { items: [{ name: "Giro", amount, kind: "balance", ...more }] });
const known = async (books: Books) =>
  (await books.ok("get_context", { include: ["balances"] })).accounts
    .map(({ account, amount, currency, on, source }: Json) => [account, amount, currency, on, source]);
const checked = async (books: Books) => {
  const { data, warnings } = await books.call("reconcile", { account: "Giro", mapping: { negative_is_expense: true } });
  return [
    data.balances.map(({ on, amount, difference }: Json) => [on, amount, ...(difference ? [difference] : [])]),
    warnings.filter(({ code }: Json) => code === "balance_gap").map(({ message }: Json) => message),
  ];
};

const SEPTEMBER: Row[] = [
  ["2026-09-01", "Rent", "-800.00", "1200.00"],
  ["2026-09-15", "Work GmbH salary", "2500.00", "3700.00"],
  ["2026-09-30", "Rewe", "-50.25", "3649.75"],
];
const OCTOBER: Row[] = [
  ["2026-10-01", "Rent", "-800.00", "2849.75"],
  ["2026-10-04", "Rewe", "-49.75", "2800.00"],
];

testBooks("balances", { day: "2026-10-06" }, {
  "a statement's closing balance applies to its last day, and an undo removes it": async (books) => {
    await giro(books, ...SEPTEMBER);
    assertEquals(await known(books), [["Giro", "3649.75", "EUR", "2026-09-30", "statement"]]);
    const { change_id } = await giro(books, ...OCTOBER);
    const october = ["Giro", "2800.00", "EUR", "2026-10-04", "statement"];
    assertEquals(await known(books), [october]);
    // The same file again, in full or in part, changes nothing.
    assertEquals((await giro(books, ...OCTOBER)).change_id, undefined);
    assertEquals((await giro(books, SEPTEMBER[2]!, ...OCTOBER)).change_id, undefined);
    assertEquals(await known(books), [october]);
    const { reversed } = await books.ok("undo_change", { change_id });
    assertMatch(JSON.stringify(reversed), /Balance of 2800\.00 EUR of Giro removed/);
    assertEquals(await known(books), [["Giro", "3649.75", "EUR", "2026-09-30", "statement"]]);
    await giro(books, ...OCTOBER);
    assertEquals(await known(books), [october]);
  },
  "a balance has the day that its format states": async (books) => {
    const mt940 = ":20:1\n:25:DE123/4567890\n:28C:1\n:60F:C261001EUR100,00\n:61:261002D30,00NMSC\n:86:Kiosk\n" +
      ":62F:C261005EUR70,00\n";
    const { warnings } = await commit(books, mt940, { account: "Bank" });
    assertEquals(warnings, []);
    const ofx = "OFXHEADER:100\n\n<OFX><CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><CURDEF>EUR<CCACCTFROM><ACCTID>99" +
      "</CCACCTFROM><BANKTRANLIST><STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20261003<TRNAMT>-12.00<FITID>1<NAME>Kiosk" +
      "</STMTTRN></BANKTRANLIST><LEDGERBAL><BALAMT>-12.00<DTASOF>20261004120000</LEDGERBAL></CCSTMTRS>" +
      "</CCSTMTTRNRS></CREDITCARDMSGSRSV1></OFX>";
    await commit(books, ofx, { account: "Card" });
    assertEquals(await known(books), [
      ["Bank", "70.00", "EUR", "2026-10-05", "statement"],
      ["Card", "-12.00", "EUR", "2026-10-04", "statement"],
    ]);
  },
  "balances agree to the cent with the lines between them, or reconcile and the import report the difference": async (
    books,
  ) => {
    await giro(books, ...SEPTEMBER);
    await giro(books, ...OCTOBER);
    assertEquals(await checked(books), [[["2026-09-30", "3649.75"], ["2026-10-04", "2800.00"]], []]);
    // If a day was not over, the next file contains its remaining lines.
    books.goTo("2026-10-07");
    await giro(books, ["2026-10-04", "Kiosk", "-10.00", "2790.00"], ["2026-10-05", "Taxi", "-90.00", "2700.00"]);
    assertEquals((await checked(books))[1], []);
    const { warnings } = await giro(books, ["2026-10-06", "Bakery", "-5.00", "2600.00"]);
    const message = "The balance of Giro differs from its earlier balance and the statement lines between: " +
      "2600.00 EUR on 2026-10-06 is off by -95.00 EUR. A statement may be missing.";
    assertEquals(warnings.map(({ message }: Json) => message), [message]);
    const [[, , , last], messages] = await checked(books);
    assertEquals([last, messages], [["2026-10-06", "2600.00", "-95.00"], [message]]);
    const found = await giro(books, ["2026-10-05", "Shoes", "-95.00", "2605.00"]);
    assertEquals([found.warnings, (await checked(books))[1]], [[], []]);
  },
  "a person can state, correct and undo a balance; a statement takes precedence": async (books) => {
    const first = await say(books, "1200", { date: "2026-10-01" });
    assertEquals(first.results.map(({ status, name, amount, date }: Json) => [status, name, amount, date]), [
      ["created", "Giro", "1200.00", "2026-10-01"],
    ]);
    assertEquals([first.results[0].category, first.totals_by_currency], [undefined, {}]);
    assertEquals((await say(books, "1200", { date: "2026-10-01" })).results[0].status, "duplicate");
    assertEquals((await say(books, "1250", { date: "2026-10-01" })).results[0].status, "updated");
    assertEquals(await known(books), [["Giro", "1250.00", "EUR", "2026-10-01", "person"]]);
    const { undone, reversed } = await books.ok("undo_change");
    assertEquals(undone.summary, "Logged balance of Giro on 2026-10-01, 1250.00 EUR");
    assertEquals(reversed.map(({ what }: Json) => what).toSorted(), [
      "Balance of 1200.00 EUR of Giro restored",
      "Balance of 1250.00 EUR of Giro removed",
    ]);
    assertEquals(await known(books), [["Giro", "1200.00", "EUR", "2026-10-01", "person"]]);
    await say(books, "30.5", { date: "2026-10-05", kind: "overdraft" });
    assertEquals(await known(books), [["Giro", "-30.50", "EUR", "2026-10-05", "person"]]);
    await giro(books, ["2026-10-05", "Rent", "-800.00", "-31.50"], ["2026-10-05", "Tea", "-2.00", "-33.50"]);
    assertEquals(await known(books), [["Giro", "-33.50", "EUR", "2026-10-05", "statement"]]);
    await say(books, "0", { date: "today" });
    assertEquals((await known(books))[0].slice(1, 4), ["0.00", "EUR", "2026-10-06"]);
    await books.fails("date_out_of_range", "log_expenses", {
      items: [{ name: "Giro", amount: "1", kind: "balance", date: "2026-10-09" }],
    });
  },
  "the latest of two people's balances counts, and an older file replaces no later balance": async (books) => {
    const other = await books.join();
    const amount = async () => (await known(books))[0].slice(1, 2)[0];
    await say(books, "1200", { date: "2026-10-01" });
    await say(other, "1250", { date: "2026-10-01" });
    assertEquals(await amount(), "1250.00");
    await say(books, "1300", { date: "2026-10-01" });
    assertEquals(await amount(), "1300.00");
    await books.ok("undo_change");
    assertEquals(await amount(), "1250.00");
    const noon: Row = ["2026-10-04", "Rewe", "-49.75", "2800.00"];
    const evening: Row = ["2026-10-04", "Kiosk", "-10.00", "2790.00"];
    await giro(books, OCTOBER[0]!, noon);
    await giro(other, noon, evening);
    assertEquals(await amount(), "2790.00");
    await giro(books, OCTOBER[0]!, noon);
    assertEquals(await amount(), "2790.00");
  },
  "stating a balance changes no spending, even beside an expense, and a preview writes nothing": async (
    books,
  ) => {
    const items = [{ name: "Giro", amount: "900", kind: "balance" }, { name: "Tea", amount: "4" }];
    const { results } = await books.ok("log_expenses", { items, dry_run: true });
    assertEquals(results.map(({ index, status }: Json) => [index, status]), [[0, "would_create"], [1, "would_create"]]);
    assertEquals(await known(books), []);
    await books.ok("log_expenses", { items });
    assertEquals((await books.ok("summarize_spending")).total.amount, "4.00");
    assertEquals((await books.ok("list_expenses")).rows.length, 1);
    await books.ok("log_expenses", { items: [{ name: "Bun", amount: "2" }] });
    const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
    assertEquals(recent_changes.map(({ summary }: Json) => summary), [
      "Logged Bun, 2.00 EUR",
      "Logged Tea and balance of Giro on 2026-10-06, 900.00 EUR",
    ]);
    const other = await books.call("log_expenses", { items: [{ name: "Savings", amount: "5", kind: "balance" }] });
    assertEquals(other.warnings.map(({ code }: Json) => code), ["account_new"]);
    assertMatch(other.warnings[0].message, /^"Savings" is a new account\. The others are "Giro"/);
  },
  "members with hidden payments see only their own stated balances; other organizations see none": async (
    books,
    database,
  ) => {
    const [member, viewer] = [await books.join(), await books.join("viewer")];
    const stranger = await openBooks(database, { day: "2026-10-06" });
    await giro(books, ...SEPTEMBER);
    assertEquals((await known(member)).length, 1);
    assertEquals((await known(viewer)).length, 1);
    await books.ok("update_settings", { category: { action: "make_private", name: "Health" } });
    for (const kept of [member, viewer, stranger]) assertEquals(await known(kept), []);
    const { warnings } = await member.call("get_context", { include: ["balances"] });
    assertEquals(warnings.map(({ code }: Json) => code), ["balances_hidden"]);
    assertEquals((await member.ok("reconcile", { account: "Giro" })).balances, []);
    // A member's own balance stays hidden from the others and changes none of theirs.
    await say(member, "7", { date: "2026-09-30" });
    assertEquals(await known(member), [["Giro", "7.00", "EUR", "2026-09-30", "person"]]);
    assertEquals(await known(books), [["Giro", "3649.75", "EUR", "2026-09-30", "statement"]]);
    await viewer.fails("forbidden_role", "log_expenses", { items: [{ name: "Giro", amount: "1", kind: "balance" }] });
    const log = async (reader: Books) =>
      (await reader.ok("get_context", { include: ["recent_changes"] })).recent_changes.map(({ tool }: Json) => tool);
    assertEquals(await log(viewer), []);
    assertEquals(await log(member), ["log_expenses"]);
  },
  "a balance in an unexpected currency is stored with a question, once": async (books) => {
    const state = async (name: string, amount: string, more: Json = {}) => {
      const { warnings } = await books.call("log_expenses", { items: [{ name, kind: "balance", amount, ...more }] });
      return warnings.filter(({ code }: Json) => code === "balance_currency").map(({ message }: Json) => message);
    };
    assertEquals(await state("Wise USD", "1000"), [
      '"Wise USD" looks like an account in USD, but 1000.00 EUR was stored. If USD was meant, undo this and send it with currency USD.',
    ]);
    assertEquals(await state("Wise", "1000", { currency: "USD" }), []);
    assertEquals((await state("Wise", "5")).length, 1, "its other balance is in USD");
    assertEquals(await state("Wise", "6", { date: "yesterday" }), [], "it has balances in both");
  },
  "the limit of an overdraft is refused before it is written as a balance": async (books) => {
    const state = (amount: string, more: Json = {}, rest: Json = {}) =>
      books.call("log_expenses", { items: [{ name: "Giro", kind: "overdraft", amount, ...more }], ...rest });
    const { error } = await state("2000");
    assertEquals([error.code, error.field], ["invalid_argument", "items[0].amount"]);
    assertMatch(error.hint, /on_duplicate "allow".*low_balance_limit/);
    for (const name of ["Overdraft limit", "Giro Dispo", "Dispokredit", "Découvert autorisé", "Limit"]) {
      const { error } = await state("1987.20", { name, kind: "balance" });
      assertEquals([error?.code, error?.field], ["invalid_argument", "items[0].name"], name);
    }
    assertEquals(await known(books), [], "nothing was written, no account created");
    assertEquals(
      (await books.ok("log_expenses", {
        items: [{ name: "Tea", amount: "4" }, { name: "Giro", kind: "balance", amount: "2000" }],
        dry_run: true,
      })).results.length,
      2,
    );
    assertEquals((await state("1987.20")).warnings, []);
    assertEquals((await state("2000", {}, { on_duplicate: "allow" })).warnings, []);
    assertEquals((await known(books))[0].slice(0, 2), ["Giro", "-2000.00"]);
    assertEquals((await state("5", { name: "Unlimited", kind: "balance" })).ok, true);
  },
  "a balance that a statement contradicts is questioned": async (books) => {
    await giro(books, ...SEPTEMBER);
    const items = [{ name: "Giro", kind: "balance", amount: "9", date: "2026-09-30" }];
    const [{ message }] = (await books.call("log_expenses", { items })).warnings;
    assertEquals(
      message,
      'A statement says 3649.75 EUR for "Giro" on 2026-09-30, which counts, not 9.00 EUR. Ask the person which is right.',
    );
  },
  "a day between two statements has a balance if the rows between them add up": async (books) => {
    await giro(books, ...SEPTEMBER);
    await giro(books, ...OCTOBER);
    const sentence = "Giro: 2849.75 EUR on 2026-10-02, by the statements’ rows.";
    const { hint } = await books.fails("date_out_of_range", "forecast", { until: "2026-10-02" });
    assertEquals(hint, `For 2026-10-02, tell the person the known balances: ${sentence}`);
    const told = async (to: string) =>
      (await books.call("reconcile", { account: "Giro", to })).warnings
        .filter(({ code }: Json) => code.startsWith("balance_of_day"))
        .map(({ code, message }: Json) => [code, message]);
    assertEquals(await told("2026-10-02"), [["balance_of_day", sentence]]);
    assertEquals(await told("2026-10-04"), []);
    assertEquals((await told("2026-10-05"))[0][0], "balance_of_day_unknown");
    assertEquals((await told("2026-09-29"))[0][0], "balance_of_day_unknown");
    // A member who may not see every row gets no balance, not even from their own figures.
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "make_private", name: "Health" } });
    await say(member, "3649.75", { date: "2026-09-30" });
    await say(member, "2800", { date: "2026-10-04" });
    const { warnings } = await member.call("reconcile", { account: "Giro", to: "2026-10-02" });
    assertEquals(warnings.map(({ code }: Json) => code), ["lines_partly_known", "balance_of_day_unknown"]);
  },
  "a day between two statements with a gap returns the balances around it": async (books, database) => {
    await giro(books, ...SEPTEMBER);
    await giro(books, OCTOBER[1]!);
    const between = "Giro: 3649.75 EUR on 2026-09-30, 2800.00 EUR on 2026-10-04; nothing between them is known.";
    const hint = async (until: string, reader = books) =>
      (await reader.fails("date_out_of_range", "forecast", { until })).hint;
    assertEquals(await hint("2026-10-02"), `For 2026-10-02, tell the person the known balances: ${between}`);
    assertMatch(await hint("2026-10-04"), /balances: Giro: 2800\.00 EUR on 2026-10-04\.$/);
    assertMatch(await hint("2026-10-05"), /Giro: 2800\.00 EUR on 2026-10-04; nothing after it is known\.$/);
    assertMatch(await hint("2026-08-01"), /Giro: 3649\.75 EUR on 2026-09-30; nothing before it is known\.$/);
    const told = async (to: string) =>
      (await books.call("reconcile", { account: "Giro", to })).warnings
        .filter(({ code }: Json) => code === "balance_of_day_unknown").map(({ message }: Json) => message);
    assertEquals(await told("2026-10-02"), [`No balance of 2026-10-02 is known. ${between}`]);
    assertEquals(await told("2026-10-04"), []);
    const stranger = await openBooks(database, { day: "2026-10-06" });
    assertEquals(await hint("2026-10-02", stranger), undefined);
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "make_private", name: "Health" } });
    assertEquals(await hint("2026-10-02", member), undefined, "hidden balances stay hidden");
  },
  "a balance on a future day is refused": async (books) => {
    const items = [{ name: "Giro", kind: "balance", amount: "5", date: "2099-01-01" }];
    const { hint } = await books.fails("date_out_of_range", "log_expenses", { items });
    assertEquals(hint, "Give the balance of today or an earlier day. forecast estimates later ones.");
  },
});
