/** Neither half of a transfer between accounts is spending, whichever statement comes first. */
import { assertEquals, assertMatch } from "@std/assert";
import { presentQuestions } from "../../functions/mcp/tools/import_expenses/answer.ts";
import { en } from "../../shared/words/en/mod.ts";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

type Row = [date: string, name: string, amount: string];

const preview = async (books: Books, account: string, ...rows: Row[]): Promise<Json> => {
  const csv = `Date,Name,Amount\n${rows.map((row) => row.join(",")).join("\n")}\n`;
  const given = { account, mapping: { negative_is_expense: true } };
  return (await books.ok("import_expenses", importOfFile(csv, given))).preview;
};
const commit = (books: Books, { commit_with }: Json, answers?: Json): Promise<Json> =>
  books.call("import_expenses", { ...commit_with, ...(answers && { answers }) });
const answered = async (books: Books, { import_id }: Json, answers: Json): Promise<Json> =>
  (await books.ok("import_expenses", { import_id, answers })).preview;
const totals = async (books: Books) => (await books.call("list_expenses")).totals_by_currency;
const asked = ({ questions }: Json) => questions.map(({ id, options }: Json) => [id, options]);
const leftOut = ({ left_out }: Json) => left_out.map(({ kind, count }: Json) => [kind, count]);
const message = ({ questions }: Json): string => presentQuestions(questions, en)[0]!.message;

const TOP_UP: Row = ["2026-10-05", "Top up by *4411", "600.00"];
const COFFEE: Row = ["2026-10-06", "Coffee", "-4.00"];
const HEAD = "Buchungsdatum;Wertstellung;Status;Zahlungspflichtige*r;Zahlungsempfänger*in;Verwendungszweck;" +
  "Umsatztyp;IBAN;Betrag (€);Gläubiger-ID;Mandatsreferenz;Kundenreferenz";
const BREAD: Row = ["2026-10-07", "Bread", "-3.00"];

testBooks("transfers between accounts", { day: "2026-10-20" }, {
  "a row with its other half in another account is omitted, unless a person calls it an expense": async (books) => {
    await commit(books, await preview(books, "Neobank", TOP_UP, COFFEE));
    const shown = await preview(books, "Giro", ["2026-10-04", "Dublin 8829", "-600.00"], BREAD);
    assertEquals([shown.rows_ok, shown.totals, asked(shown)], [1, { EUR: "3.00" }, []]);
    const message = "1 transfer to or from another of your accounts";
    assertEquals(shown.left_out, [{ kind: "other_half", count: 1, totals: { EUR: "600.00" }, lines: [2], message }]);
    const kept = await answered(books, shown, { row_2: "new" });
    assertEquals([kept.rows_ok, kept.totals], [2, { EUR: "603.00" }]);
    const back = await answered(books, shown, { row_2: "transfer" });
    const { data } = await commit(books, back);
    assertEquals([data.created, data.not_written], [1, { transfer: 1 }]);
    assertEquals(await totals(books), { EUR: "7.00" });
    const { bank_only, totals: sums } = await books.ok("reconcile", { account: "Giro" });
    assertEquals([bank_only, sums.bank], [[], { EUR: "3.00" }]);
    // The same file again writes nothing, because its half is already matched.
    const again = await preview(books, "Giro", ["2026-10-04", "Dublin 8829", "-600.00"], BREAD);
    assertEquals([again.rows_ok, leftOut(again)], [0, [["other_half", 1]]]);
    const other = await preview(books, "Savings", ["2026-10-05", "Dublin 8829", "-600.00"]);
    assertEquals([other.rows_ok, leftOut(other)], [1, []]);
  },
  "a search that finds no spending names the omitted transfers": async (books) => {
    await commit(books, await preview(books, "Neobank", TOP_UP, COFFEE));
    await commit(books, await preview(books, "Giro", ["2026-10-04", "Dublin 8829", "-600.00"], BREAD));
    const search = async (reader: Books, more: Json = {}) =>
      (await reader.ok("list_expenses", { query: "dublin", ...more })).no_match?.own_transfers_left_out;
    assertEquals(await search(books), [
      { date: "2026-10-04", text: "Dublin 8829", account: "Giro", amount: "-600.00", currency: "EUR" },
    ]);
    assertEquals(await search(books, { from: "2026-10-08" }), undefined);
    const member = await books.join();
    await books.ok("update_settings", { own_only: true });
    assertEquals(await search(member), undefined);
  },
  "reconcile and a search return the totals of transfers for each pair of accounts": async (books, database) => {
    const csv = "Date,Name,Amount\n2026-09-30,Transfer to savings account,-50\n2026-10-02,Kiosk,-3\n" +
      "2026-10-03,Transfer to savings account,-150\n2026-10-04,Dublin 8829,-600\n";
    const given = { account: "Giro", mapping: { negative_is_expense: true } };
    await commit(books, await preview(books, "Neobank", TOP_UP, COFFEE));
    await commit(books, (await books.ok("import_expenses", importOfFile(csv, given))).preview);
    const toNeobank = { from: "Giro", to: "Neobank", count: 1, amount: "600.00", currency: "EUR" };
    const toSavings = { from: "Giro", to: "savings", count: 2, amount: "200.00", currency: "EUR" };
    const transfers = async (args: Json, reader = books) => (await reader.ok("reconcile", args)).transfers;
    assertEquals(await transfers({ account: "Giro" }), [toNeobank, toSavings]);
    assertEquals(await transfers({ account: "Neobank" }), [toNeobank]);
    assertEquals(await transfers({ account: "Giro", from: "2026-10-01", to: "2026-10-03" }), [
      { ...toSavings, count: 1, amount: "150.00" },
    ]);
    const { no_match } = await books.ok("list_expenses", { query: "savings" });
    assertEquals([no_match.own_transfers_left_out.length, no_match.own_transfer_totals], [2, [toSavings]]);
    const stranger = await openBooks(database, { day: "2026-10-20" });
    await commit(stranger, await preview(stranger, "Giro", BREAD));
    assertEquals(await transfers({ account: "Giro" }, stranger), []);
    const member = await books.join();
    await books.ok("update_settings", { own_only: true });
    await member.fails("not_found", "reconcile", { account: "Giro" });
    assertEquals((await member.ok("list_expenses", { query: "savings" })).no_match.own_transfer_totals, undefined);
  },
  "six days, another amount, the same direction or foreign books make no transfer": async (books, database) => {
    const stranger = await openBooks(database, { day: "2026-10-20" });
    await commit(stranger, await preview(stranger, "Neobank", TOP_UP, COFFEE));
    await commit(books, await preview(books, "Neobank", ["2026-10-01", "Top up by *4411", "70.00"], COFFEE));
    const shown = await preview(
      books,
      "Giro",
      ["2026-10-05", "Dublin", "-600.00"],
      ["2026-10-07", "Dublin", "-70.00"],
      ["2026-10-06", "Dublin", "-70.01"],
    );
    assertEquals([shown.rows_ok, leftOut(shown), asked(shown)], [3, [], []]);
  },
  "the other half is in another account, and belongs to only one transfer": async (books) => {
    await commit(books, await preview(books, "Giro", TOP_UP, COFFEE));
    const same = await preview(books, "Giro", ["2026-10-06", "Dublin 8829", "-600.00"]);
    assertEquals([same.rows_ok, leftOut(same), asked(same)], [1, [], []]);
    await commit(books, await preview(books, "Neobank", ["2026-10-06", "Dublin 8829", "-600.00"], BREAD));
    const third = await preview(books, "Third", ["2026-10-07", "Top up by *99", "600.00"], [
      "2026-10-07",
      "Bus",
      "-1.00",
    ]);
    assertEquals([third.rows_ok, third.removes, asked(third)], [1, undefined, []]);
  },
  "a row that matches an expense by name is not a transfer, and two possible halves are both questions": async (
    books,
  ) => {
    await books.ok("log_expenses", { items: [{ name: "Rewe", amount: "20.00", date: "2026-10-05" }] });
    await commit(books, await preview(books, "Neobank", ["2026-10-05", "Top up by *4411", "20.00"], COFFEE));
    const rows: Row[] = [
      ["2026-10-05", "REWE 1", "-20.00"],
      ["2026-10-05", "Lidl", "-20.00"],
      ["2026-10-06", "DM", "-20.00"],
    ];
    const shown = await preview(books, "Giro", ...rows);
    assertEquals(asked(shown), [["row_3", ["transfer", "new"]], ["row_4", ["transfer", "new"]]]);
    assertMatch(message(shown), /"Lidl", 20\.00 EUR on 5 Oct: is it the other half of "Top up by \*4411", 20\.00 EUR/);
    const both = await answered(books, shown, { row_3: "transfer", row_4: "transfer" });
    assertEquals((await commit(books, both)).error.code, "invalid_argument");
    const one = await answered(books, shown, { row_3: "new", row_4: "transfer" });
    assertEquals((await commit(books, one)).data.created, 1);
    assertEquals(await totals(books), { EUR: "44.00" });
    // A row that names the other account is the half, even if other rows have the same amount.
    await commit(books, await preview(books, "Revolut", ["2026-10-12", "Top up by *4411", "30.00"], BREAD));
    const named = await preview(books, "Giro", ["2026-10-12", "Lidl", "-30.00"], [
      "2026-10-13",
      "REVOLUT**44",
      "-30.00",
    ]);
    assertEquals([asked(named), named.left_out[0].lines, named.totals], [[], [3], { EUR: "30.00" }]);
  },
  "a transfer recognized by its own words takes its half from other rows": async (books) => {
    await commit(books, await preview(books, "Neobank", TOP_UP, COFFEE));
    const shown = await preview(
      books,
      "Giro",
      ["2026-10-05", "Rent", "-600.00"],
      ["2026-10-05", "Internal transfer", "-600.00"],
    );
    assertEquals([shown.rows_ok, asked(shown), leftOut(shown)], [1, [], [["own_transfer", 1]]]);
    await commit(books, shown);
    const next = await preview(books, "Third", ["2026-10-05", "Garage", "-600.00"], ["2026-10-05", "Tea", "-1.00"]);
    assertEquals([next.rows_ok, leftOut(next)], [2, []]);
    // A later row that names the other account is matched as well.
    await commit(books, await preview(books, "Depot", ["2026-10-12", "Internal transfer", "-80.00"], BREAD));
    await commit(books, await preview(books, "Neobank", ["2026-10-12", "Top up by *4411", "80.00"], COFFEE));
    const last = await preview(books, "Third", ["2026-10-12", "Garage", "-80.00"], ["2026-10-12", "Tea", "-1.00"]);
    assertEquals([last.rows_ok, leftOut(last)], [2, []]);
  },
  "an expense that may be the other half is a question; yes removes it and an undo restores it": async (books) => {
    await commit(books, await preview(books, "Giro", ["2026-10-04", "REVOLUT**4411*", "-600.00"], BREAD));
    assertEquals(await totals(books), { EUR: "603.00" });
    const shown = await preview(books, "Neobank", TOP_UP, COFFEE);
    assertEquals([asked(shown), shown.rows_ok], [[["row_2", ["same", "new"]]], 1]);
    assertMatch(
      message(shown),
      /^Line 2, "Top up by \*4411", 600\.00 EUR on 5 Oct, is not spending: .*"REVOLUT\*\*4411\*"/,
    );
    const other = await answered(books, shown, { row_2: "new" });
    assertEquals([other.removes, other.questions], [undefined, []]);
    const same = await answered(books, shown, { row_2: "same" });
    assertEquals(same.removes.map(({ name, amount }: Json) => [name, amount]), [["REVOLUT**4411*", "600.00"]]);
    const { data, change_id, error } = await commit(books, same);
    assertEquals([error, data?.created, await totals(books)], [undefined, 1, { EUR: "7.00" }]);
    assertEquals((await books.ok("reconcile", { account: "Giro" })).bank_only, []);
    const again = await preview(books, "Giro", ["2026-10-04", "REVOLUT**4411*", "-600.00"], BREAD);
    assertEquals(again.rows_ok, 0);
    await books.ok("undo_change", { change_id });
    assertEquals(await totals(books), { EUR: "603.00" });
  },
  "undoing one half's import reports the other half as missing from the books": async (books) => {
    const { change_id } = await commit(books, await preview(books, "Neobank", TOP_UP, COFFEE));
    const rows: Row[] = [["2026-10-04", "Dublin 8829", "-600.00"], BREAD];
    await commit(books, await preview(books, "Giro", ...rows));
    await books.ok("undo_change", { change_id });
    const { bank_only } = await books.ok("reconcile", { account: "Giro" });
    assertEquals(bank_only.map(({ text }: Json) => text), ["Dublin 8829"]);
    assertEquals((await preview(books, "Giro", ...rows)).totals, { EUR: "600.00" });
    // The other half's statement may be imported again.
    const { commit_with, questions } = await preview(books, "Neobank", TOP_UP, COFFEE);
    assertEquals(questions, []);
    await books.ok("import_expenses", commit_with);
    assertEquals((await books.ok("reconcile", { account: "Giro" })).bank_only, []);
    assertEquals(leftOut(await preview(books, "Giro", ...rows)), [["other_half", 1]]);
  },
  "the commit sees a half that was imported after the preview": async (books) => {
    const first = await preview(books, "Giro", ["2026-10-04", "Dublin 8829", "-600.00"], BREAD);
    const second = await preview(books, "Neobank", TOP_UP, COFFEE);
    await commit(books, second);
    assertEquals((await commit(books, first)).error.code, "expectation_mismatch");
    const third = await preview(books, "Depot", ["2026-10-04", "Dublin 8829", "-600.00"]);
    await commit(books, await answered(books, first, {}));
    assertEquals(leftOut(third), [["other_half", 1]]);
    assertEquals((await commit(books, third)).error.code, "expectation_mismatch");
    assertEquals(await totals(books), { EUR: "7.00" });
  },
  "a member with own-only access learns nothing about others' statements": async (books) => {
    await books.ok("update_settings", { own_only: true });
    const member = await books.join();
    await commit(books, await preview(books, "Neobank", TOP_UP, ["2026-10-05", "Lidl", "-20.00"]));
    const spent = await preview(member, "Giro", ["2026-10-04", "Dublin 8829", "-600.00"], BREAD);
    assertEquals([spent.rows_ok, leftOut(spent), asked(spent)], [2, [], []]);
    const came = await preview(member, "Mine", ["2026-10-05", "Top up by *99", "20.00"], BREAD);
    assertEquals([came.rows_ok, asked(came)], [1, []]);
    // They see only their own two lines.
    await commit(member, await preview(member, "Mine", ["2026-10-05", "Top up by *99", "50.00"], BREAD));
    assertEquals(leftOut(await preview(member, "Giro", ["2026-10-05", "Dublin", "-50.00"])), [["other_half", 1]]);
  },
  "without a second account, a card issuer, own name or own number is a question": async (books) => {
    const row = (payee: string, note: string, iban: string, amount: string) =>
      `05.10.26;05.10.26;Gebucht;Max Muster;${payee};${note};Ausgang;${iban};${amount};;;`;
    await commit(books, await preview(books, "DE02120300000000202051", COFFEE));
    await books.ok(
      "import_expenses",
      importOfFile(
        "Date,Name,Amount\n2026-10-01,Tea,-2\n2026-10-01,Salary,900\n",
        { mapping: { negative_is_expense: true } },
      ),
    );
    const csv = [
      HEAD,
      row("AMERICAN EXPRESS EUROPE S.A.", "AXP 123", "DE11", "-71,10"),
      row("MAX MUSTER", "Depot", "DE12", "-250,00"),
      row("REWE", "Danke", "DE13", "-20,00"),
    ].join("\n");
    const { preview: shown } = await books.ok("import_expenses", importOfFile(csv, { account: "DKB" }));
    assertEquals(asked(shown), [["row_2", ["transfer", "new"]], ["row_3", ["transfer", "new"]]]);
    assertMatch(message(shown), /71\.10 EUR on 5 Oct: is it a transfer between your own accounts/);
    const done = await answered(books, shown, { row_2: "transfer", row_3: "new" });
    assertEquals([done.rows_ok, done.totals], [2, { EUR: "270.00" }]);
  },
  'an answer about a standing order, even "no", answers the same question about later rows': async (books) => {
    const month = async (mm: string, amount = "-250,00", more: string[] = []) => {
      const row = (payee: string, note: string, sum: string) =>
        `05.${mm}.26;05.${mm}.26;Gebucht;Max Muster;${payee};${note};Ausgang;DE11;${sum};;;`;
      const csv = [HEAD, row("MAX MUSTER", `Depot ${mm}/26`, amount), row("REWE", `Danke ${mm}`, "-20,00"), ...more];
      return (await books.ok("import_expenses", importOfFile(csv.join("\n"), { account: "DKB" }))).preview;
    };
    const said = async ({ import_id }: Json) =>
      (await books.call("import_expenses", { import_id })).warnings
        .map(({ message }: Json) => message).filter((message: string) => message.startsWith("Answered as before"));
    for (const [answer, rows, month_1, month_2] of [["new", 2, "05", "06"], ["transfer", 1, "08", "09"]] as const) {
      const first = await month(month_1);
      if (answer === "new") assertEquals(asked(first), [["row_2", ["transfer", "new"]]]);
      const { change_id } = await commit(books, await answered(books, first, { row_2: answer }));
      const second = await month(month_2, "-260,00");
      assertEquals([asked(second), second.rows_ok], [[], rows]);
      assertMatch(
        (await said(second))[0],
        answer === "new" ? /line 2, ".*": new\. / : /line 2, ".*": transfer\. /,
      );
      // The answer can change, and implies nothing about another amount.
      const other = await answered(books, second, { row_2: answer === "new" ? "transfer" : "new" });
      assertEquals([other.rows_ok, await said(second)], [3 - rows, []]);
      assertEquals(asked(await month(month_2, "-900,00")), [["row_2", ["transfer", "new"]]]);
      if (answer === "new") {
        await books.ok("undo_change", { change_id });
        assertEquals(asked(await month(month_2)), [["row_2", ["transfer", "new"]]]);
      }
    }
  },
});
