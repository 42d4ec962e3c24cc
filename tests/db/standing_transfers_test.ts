/** A standing order between own accounts is a transfer each month, whichever statement comes, and in whichever order. */
import { assertEquals, assertMatch } from "@std/assert";
import { presentQuestions } from "../../functions/mcp/tools/import_expenses/answer.ts";
import { en } from "../../shared/words/en/mod.ts";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

type Row = [date: string, name: string, amount: string];

/** @returns the preview, and the rows that earlier months decide */
const preview = async (books: Books, account: string, ...rows: Row[]): Promise<Json> => {
  const csv = `Date,Name,Amount\n${rows.map((row) => row.join(",")).join("\n")}\n`;
  const given = { account, mapping: { negative_is_expense: true } };
  const { data, warnings } = await books.call("import_expenses", importOfFile(csv, given));
  const said = (warnings ?? []).map(({ message }: Json) => message);
  return { ...data.preview, recalled: said.filter((text: string) => text.startsWith("Answered as before")) };
};
const commit = (books: Books, { commit_with }: Json, answers?: Json) =>
  books.ok("import_expenses", { ...commit_with, ...(answers && { answers }) });
const answered = async (books: Books, { import_id }: Json, answers: Json): Promise<Json> =>
  (await books.ok("import_expenses", { import_id, answers })).preview;
const asked = ({ questions }: Json) => questions.map(({ id, options }: Json) => [id, options]);
/** Spending and income since a day. */
async function sums(books: Books, from: string): Promise<[spent?: string, received?: string]> {
  const sum = async (args: Json) => (await books.call("list_expenses", { from, ...args })).totals_by_currency?.EUR;
  return [await sum({}), await sum({ kind: "income" })];
}
const lines = async (books: Books, account: string) =>
  (await books.ok("reconcile", { account })).bank_only.map(({ text }: Json) => text);

const paid = (mm: string, name = "Anna und Ben Keller Dauerauftrag Gemeinschaftskonto", amount = "-1200.00"): Row => [
  `2026-${mm}-02`,
  name,
  amount,
];
const came = (mm: string, name = "Anna und Ben Keller"): Row => [`2026-${mm}-03`, name, "1200.00"];
const tea = (mm: string): Row => [`2026-${mm}-07`, "Tea", "-3.00"];
const milk = (mm: string): Row => [`2026-${mm}-08`, "Milk", "-2.00"];

/** May, whose halves a person called a transfer. */
async function firstMonth(books: Books) {
  await commit(books, await preview(books, "Giro", paid("05"), tea("05")));
  const shown = await preview(books, "Joint", came("05"));
  await commit(books, await answered(books, shown, { row_2: "same" }));
}

testBooks("a standing order between own accounts", { day: "2026-10-20" }, {
  "is a transfer before the other statement comes, which then pairs with it": async (books) => {
    await firstMonth(books);
    const shown = await preview(books, "Giro", paid("06", undefined, "-1250.00"), tea("06"));
    assertEquals([asked(shown), shown.totals], [[], { EUR: "3.00" }]);
    assertMatch(shown.recalled[0], /line 2, "Anna und Ben Keller .*": transfer\. /);
    await commit(books, shown);
    assertEquals([await sums(books, "2026-06-01"), await lines(books, "Giro")], [["3.00", undefined], []]);
    const half = await preview(books, "Joint", ["2026-06-03", "Other words", "1250.00"], milk("06"));
    assertEquals([asked(half), half.recalled], [[], []]);
    const { change_id } = await books.call("import_expenses", half.commit_with);
    assertEquals(await sums(books, "2026-06-01"), ["5.00", undefined]);
    assertEquals((await books.ok("reconcile", { account: "Joint", from: "2026-06-01" })).transfers, [
      { from: "Giro", to: "Joint", count: 1, amount: "1250.00", currency: "EUR" },
    ]);
    await books.ok("undo_change", { change_id });
    assertEquals([await sums(books, "2026-06-01"), await lines(books, "Giro")], [["3.00", undefined], []]);
    // Without its other half, the answered line of June decides July.
    assertEquals((await preview(books, "Giro", paid("07"), tea("07"))).totals, { EUR: "3.00" });
  },
  "is no income if the other statement comes first": async (books) => {
    await firstMonth(books);
    const first = await preview(books, "Joint", came("06"), milk("06"));
    assertMatch(first.recalled[0], /line 2, "Anna und Ben Keller": transfer\. /);
    await commit(books, first);
    const second = await preview(books, "Giro", paid("06"), tea("06"));
    assertEquals([asked(second), second.totals], [[], { EUR: "3.00" }]);
    const { change_id } = await books.call("import_expenses", second.commit_with);
    assertEquals(await sums(books, "2026-06-01"), ["5.00", undefined]);
    await books.ok("undo_change", { change_id });
    assertEquals(await sums(books, "2026-06-01"), ["2.00", undefined]);
    // With other words it is income until the statement that has the standing order.
    await commit(books, await preview(books, "Joint", came("07", "Other words")));
    assertEquals(await sums(books, "2026-07-01"), [undefined, "1200.00"]);
    const third = await preview(books, "Giro", paid("07"), tea("07"));
    assertEquals([asked(third), third.recalled.length], [[], 1]);
    const { change_id: change } = await books.call("import_expenses", third.commit_with);
    assertEquals(await sums(books, "2026-07-01"), ["3.00", undefined]);
    await books.ok("undo_change", { change_id: change });
    assertEquals(await sums(books, "2026-07-01"), [undefined, "1200.00"]);
  },
  "is no income if both statements were read before either was committed": async (books) => {
    await firstMonth(books);
    for (const [mm, name, order] of [["06", "Alpha", [0, 1]], ["07", "Beta", [1, 0]]] as const) {
      const shown = [await preview(books, "Giro", paid(mm)), await preview(books, "Joint", came(mm, name))];
      for (const place of order) await commit(books, await answered(books, shown[place], {}));
      assertEquals(await sums(books, `2026-${mm}-01`), [undefined, undefined], mm);
    }
  },
  "is spending with another amount, in the other direction, or if the latest line was no transfer": async (books) => {
    await firstMonth(books);
    const other = await preview(books, "Giro", paid("06", undefined, "-1800.00"), paid("06", undefined, "1200.00"));
    assertEquals([other.recalled, other.rows_ok], [[], 1]);
    // A person calls it spending, which decides the next month.
    const shown = await preview(books, "Giro", paid("06"));
    assertEquals(shown.rows_ok, 0);
    await commit(books, await answered(books, shown, { row_2: "new" }));
    const next = await preview(books, "Giro", paid("07"));
    assertEquals([asked(next), next.recalled, next.totals], [[], [], { EUR: "1200.00" }]);
  },
  "is a question if the other statement comes a month late, and the answer decides the next months": async (books) => {
    await commit(books, await preview(books, "Giro", paid("05"), tea("05")));
    await commit(books, await preview(books, "Giro", paid("06"), tea("06")));
    const late = await preview(books, "Joint", came("05"));
    await commit(books, await answered(books, late, { row_2: "same" }));
    const shown = await preview(books, "Giro", paid("07"), tea("07"));
    assertEquals(asked(shown), [["row_2", ["transfer", "new"]]]);
    await commit(books, await answered(books, shown, { row_2: "transfer" }));
    const next = await preview(books, "Giro", paid("08"), tea("08"));
    assertEquals([asked(next), next.totals], [[], { EUR: "3.00" }]);
  },
  "is a question if a purchase with these words and this amount came later, otherwise spending": async (books) => {
    const bought: Row = ["2026-06-02", "PayPal Europe 12", "-50.00"];
    await commit(books, await preview(books, "Giro", ["2026-05-02", "PayPal Europe 7", "-50.00"], bought));
    const shown = await preview(books, "Wallet", ["2026-05-03", "Top up by *4411", "50.00"], tea("05"));
    await commit(books, await answered(books, shown, { row_2: "same" }));
    const rows: Row[] = [["2026-07-02", "PayPal Europe 13", "-50.00"], ["2026-07-03", "PayPal Europe 14", "-55.00"]];
    const next = await preview(books, "Giro", ...rows);
    assertEquals([asked(next), next.recalled], [[["row_2", ["transfer", "new"]]], []]);
    assertEquals((await answered(books, next, { row_2: "new" })).totals, { EUR: "105.00" });
  },
});

const HEAD = "Buchungsdatum;Wertstellung;Status;Zahlungspflichtige*r;Zahlungsempfänger*in;Verwendungszweck;" +
  "Umsatztyp;IBAN;Betrag (€);Gläubiger-ID;Mandatsreferenz;Kundenreferenz";
const message = ({ questions }: Json): string => presentQuestions(questions, en)[0]!.message;

testBooks("income that only its own text calls a transfer", { day: "2026-10-20" }, {
  "is a question to a member who may not see the other half": async (books, database) => {
    const member = await books.join();
    for (const [user, name] of [[books, "anna.keller"], [member, "ben.keller"]] as const) {
      await database.query("update identity.profiles set email = $2 where user_id = $1", [
        user.userId,
        `${name}@${books.organizationId.replaceAll("_", "-")}.test`,
      ]);
    }
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    const file = (number: string, ...rows: string[]) =>
      importOfFile(`"Girokonto";"${number}"\n${HEAD}\n${rows.join("\n")}\n`);
    const row = (day: string, payer: string, note: string, iban: string, amount: string, owner = "Jo Doe") =>
      amount.startsWith("-")
        ? `${day}.10.26;${day}.10.26;Gebucht;${owner};${payer};${note};Ausgang;${iban};${amount};;;`
        : `${day}.10.26;${day}.10.26;Gebucht;${payer};${owner};${note};Eingang;${iban};${amount};;;`;
    const giro = file("DE02120300000000202051", row("04", "Landlord", "Rent", "DE11", "-300,00", "A B"));
    await commit(books, (await books.ok("import_expenses", giro)).preview);
    const joint = file(
      "DE02500105170137075030",
      row("05", "Anna und Ben Keller", "Dauerauftrag", "DE12", "1200,00"),
      row("06", "Work GmbH", "Gehalt Anna Keller", "DE13", "2000,00"),
      row("07", "Blue", "Order", "DE02 1203 0000 0000 2020 51", "300,00"),
      row("08", "Keller Bau GmbH", "Bonus Anna Keller", "DE14", "900,00"),
    );
    const { preview: shown } = await member.ok("import_expenses", joint);
    assertEquals(asked(shown), [["row_3", ["transfer", "new"]], ["row_5", ["transfer", "new"]]]);
    assertMatch(
      message(shown),
      /1200\.00 EUR on 5 Oct: is it a transfer between your own accounts \("transfer"\), or /,
    );
    await commit(member, shown, { row_3: "transfer", row_5: "new" });
    assertEquals((await sums(member, "2026-10-01"))[1], "3200.00");
    const { preview: again } = await member.ok("import_expenses", joint);
    await member.call("import_expenses", again.commit_with);
    assertEquals((await sums(member, "2026-10-01"))[1], "3200.00");
  },
  "is a question if it names an account that the person sees, unless it is a salary": async (books) => {
    const member = await books.join();
    await books.ok("update_settings", { own_only: true });
    await commit(books, await preview(books, "Salary", tea("05")));
    const rows: Row[] = [["2026-10-03", "Money from Salary", "10.00"], ["2026-10-04", "From the sparrow", "11.00"]];
    assertEquals(asked(await preview(books, "Joint", ...rows)), []);
    await commit(books, await preview(books, "Sparrow", milk("05")));
    assertEquals(asked(await preview(books, "Joint", ...rows)), [["row_3", ["transfer", "new"]]]);
    assertEquals(asked(await preview(member, "Mine", ...rows)), []);
  },
  "and its expense in an account that the member may not see are named by review_bills and net sums": async (books) => {
    const member = await books.join();
    const told = async (reader: Books, tool = "review_bills", args = {}): Promise<string[]> =>
      ((await reader.call(tool, args)).warnings ?? []).map(({ message }: Json) => message)
        .filter((text: string) => text.includes("may be a transfer"));
    await books.ok("update_settings", { own_only: true });
    await commit(books, await preview(books, "Giro", paid("09"), ["2026-09-09", "Rent", "-40.00"]));
    const shown = await preview(member, "Joint", came("09"), ["2026-09-10", "Work GmbH", "40.00"]);
    assertEquals(asked(shown), []);
    await commit(member, shown);
    const [{ id }] = (await books.ok("list_expenses", { query: "Dauerauftrag" })).rows;
    const [{ id: income }] = (await books.ok("list_expenses", { kind: "income", query: "Keller" })).rows;
    const [text, ...more] = await told(books);
    assertEquals([text!.includes(`on 2 Sep, may be a transfer to Joint (${id}, ${income}). Ask`), more], [true, []]);
    assertEquals([text!.includes("Rent"), await told(member)], [false, []]);
    const net = { kind: "net", period: "this_year" };
    assertEquals([await told(books, "summarize_spending", net), await told(member, "summarize_spending", net)], [
      [text],
      [],
    ]);
    await books.ok("delete_records", { ids: [income] });
    assertEquals(await told(books), []);
  },
});
