/** Transfers whose halves look like spending and income count on neither side, whichever statement comes first. */
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
const commit = (books: Books, { commit_with }: Json) => books.ok("import_expenses", commit_with);
const answered = async (books: Books, { import_id }: Json, answers: Json): Promise<Json> =>
  (await books.ok("import_expenses", { import_id, answers })).preview;
const asked = ({ questions }: Json) => questions.map(({ id, options }: Json) => [id, options]);
const message = ({ questions }: Json): string => presentQuestions(questions, en)[0]!.message;
/** Spending and income of the month. */
async function sums(books: Books): Promise<[spent?: string, received?: string]> {
  const sum = async (args: Json) => (await books.call("list_expenses", args)).totals_by_currency?.EUR;
  return [await sum({}), await sum({ kind: "income" })];
}

const PAID: Row = ["2026-10-02", "Kim Schmidt household", "-1200.00"];
const CAME: Row = ["2026-10-03", "Kim Schmidt household", "1200.00"];
const BREAD: Row = ["2026-10-07", "Bread", "-3.00"];
const MILK: Row = ["2026-10-06", "Milk", "-2.00"];

testBooks("a transfer that looks like spending and income", { day: "2026-10-20" }, {
  "is a question about the income; yes removes the expense, and an undo restores it": async (books) => {
    await commit(books, await preview(books, "Giro", PAID, BREAD));
    const shown = await preview(books, "Joint", CAME, MILK);
    assertEquals(asked(shown), [["row_2", ["same", "new"]]]);
    assertMatch(
      message(shown),
      /^Line 2, .*1200\.00 EUR on 3 Oct: is it the other half of "Kim Schmidt household", 1200\.00 EUR .*or income \("new"\)\?$/,
    );
    const same = await answered(books, shown, { row_2: "same" });
    const others = (found: Json) => [
      found.rows.map(({ as }: Json) => as),
      found.left_out.map(({ kind, count, totals, lines }: Json) => [kind, count, totals.EUR, lines]),
    ];
    assertEquals(others(same), [["transfer", "new"], [["other_half", 1, "1200.00", [2]]]]);
    const withPay = await preview(books, "Joint", CAME, MILK, ["2026-10-04", "Salary Work GmbH", "2000.50"]);
    assertEquals(others(withPay), [["asked", "new", "income"], [["income", 2, "3200.50", [2, 4]]]]);
    assertEquals(others(await answered(books, withPay, { row_2: "same" })), [["transfer", "new", "income"], [
      ["income", 1, "2000.50", [4]],
      ["other_half", 1, "1200.00", [2]],
    ]]);
    const { change_id } = await commit(books, same);
    assertEquals(await sums(books), ["5.00", undefined]);
    assertEquals((await books.ok("reconcile", { account: "Giro" })).bank_only, []);
    await books.ok("undo_change", { change_id });
    assertEquals(await sums(books), ["1203.00", undefined]);
    const next = await preview(books, "Joint", CAME, MILK);
    await commit(books, await answered(books, next, { row_2: "new" }));
    assertEquals(await sums(books), ["1205.00", "1200.00"]);
  },
  "is a question about the expense if the income came first; an undo restores the income": async (books) => {
    await commit(books, await preview(books, "Joint", CAME, MILK));
    const shown = await preview(books, "Giro", PAID, BREAD);
    assertEquals(asked(shown), [["row_2", ["transfer", "new"]]]);
    assertMatch(message(shown), /the other half of .* in "Joint" \(not spending\), or a new expense\?$/);
    const { change_id } = await commit(books, await answered(books, shown, { row_2: "transfer" }));
    assertEquals(await sums(books), ["5.00", undefined]);
    await books.ok("undo_change", { change_id });
    assertEquals(await sums(books), ["2.00", "1200.00"]);
  },
  "gets the answer of the previous month": async (books) => {
    for (const [answer, month, next, total] of [["same", "05", "06", undefined], ["new", "07", "08", "1200.00"]]) {
      const rows = (mm: string, [, name, amount]: Row): Row => [`2026-${mm}-02`, `${name} ${answer}`, amount];
      await commit(books, await preview(books, "Giro", rows(month!, PAID), rows(next!, PAID)));
      const first = await preview(books, "Joint", rows(month!, CAME));
      if (answer === "same") assertEquals(asked(first), [["row_2", ["same", "new"]]]);
      await commit(books, await answered(books, first, { row_2: answer }));
      const second = await preview(books, "Joint", rows(next!, CAME));
      assertEquals([asked(second), second.removes?.length], [[], answer === "same" ? 1 : undefined]);
      await commit(books, second);
      const { totals_by_currency: sum } = await books.call("list_expenses", {
        kind: "income",
        from: `2026-${next}-01`,
      });
      assertEquals(sum?.EUR, total);
    }
  },
  "is a question if a row names an account or a member": async (books, database) => {
    await database.query("update identity.profiles set email = $2 where user_id = $1", [
      books.userId,
      "ana.roe@x.test",
    ]);
    const pairs = [["Standing order 1", "Money from Giro"], ["To Joint", "Standing order 2"], ["Rent", "ANA ROE 77"]];
    for (const [at, [paid, came]] of pairs.entries()) {
      const amount = `${100 + at}.00`;
      await commit(books, await preview(books, "Giro", ["2026-10-02", paid!, `-${amount}`], BREAD));
      const shown = await preview(books, "Joint", ["2026-10-03", came!, amount], MILK);
      assertEquals(asked(shown), [["row_2", ["same", "new"]]], came);
    }
  },
  "is a question if the income came from the number of the other account": async (books) => {
    const head = "Buchungsdatum;Wertstellung;Status;Zahlungspflichtige*r;Zahlungsempfänger*in;Verwendungszweck;" +
      "Umsatztyp;IBAN;Betrag (€);Gläubiger-ID;Mandatsreferenz;Kundenreferenz";
    const file = (number: string, row: string) => importOfFile(`"Girokonto";"${number}"\n${head}\n${row}\n`);
    const paid = "04.10.26;04.10.26;Gebucht;K. Doe;Shop;Monthly;Ausgang;DE11;-300,00;;;";
    await commit(books, (await books.ok("import_expenses", file("DE02120300000000202051", paid))).preview);
    const came = "05.10.26;05.10.26;Gebucht;Blue;Red;Order;Eingang;DE02120300000000202051;300,00;;;";
    const { preview: shown } = await books.ok("import_expenses", file("DE02500105170137075030", came));
    assertEquals(asked(shown), [["row_3", ["same", "new"]]]);
    const back = "05.10.26;05.10.26;Gebucht;Blue;Red;Erstattung;Eingang;DE02120300000000202051;7,00;;;";
    const refund = (await books.ok("import_expenses", file("DE02500105170137075030", back))).preview;
    assertMatch(message(refund), /\(not spending\), or a new refund\?$/);
  },
  "is not assumed for other names, days, amounts, accounts or organizations": async (books, database) => {
    const stranger = await openBooks(database, { day: "2026-10-20" });
    await commit(books, await preview(books, "Giro", PAID, BREAD));
    for (
      const row of [
        ["2026-10-03", "Salary Work GmbH", "1200.00"],
        ["2026-10-08", CAME[1], "1200.00"],
        ["2026-10-03", CAME[1], "1200.01"],
      ] as Row[]
    ) assertEquals(asked(await preview(books, "Joint", row, MILK)), [], row.join());
    assertEquals(asked(await preview(books, "Giro", CAME, MILK)), []);
    assertEquals(asked(await preview(stranger, "Joint", CAME, MILK)), []);
  },
  "is no question for a member who may not see the other half": async (books) => {
    const member = await books.join();
    await books.ok("update_settings", { own_only: true });
    await commit(books, await preview(books, "Secret bank", PAID, BREAD));
    const shown = await preview(member, "Joint", CAME, MILK);
    assertEquals([asked(shown), JSON.stringify(shown).includes("Secret")], [[], false]);
    await commit(member, shown);
    assertEquals(await sums(books), ["1205.00", "1200.00"]);
    assertEquals(await sums(member), ["2.00", "1200.00"]);
  },
});
