/** An import does not reveal the other half of a transfer to a member who may not see it. */
import { assert, assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

type Row = [date: string, name: string, amount: string];

const COFFEE: Row = ["2026-10-06", "Coffee", "-4.00"];
const BUS: Row = ["2026-10-08", "Bus", "-2.00"];

const preview = async (books: Books, account: string, ...rows: Row[]): Promise<Json> => {
  const csv = `Date,Name,Amount\n${rows.map((row) => row.join(",")).join("\n")}\n`;
  const given = { account, mapping: { negative_is_expense: true } };
  return (await books.ok("import_expenses", importOfFile(csv, given))).preview;
};
const commit = async (books: Books, { commit_with }: Json) => await books.ok("import_expenses", commit_with);

/** Everything that a person's tools return. */
async function told(books: Books, accounts: string[]): Promise<string> {
  const calls: [string, Json][] = [
    ["list_expenses", { limit: 100 }],
    ["get_context", { include: ["recent_changes", "accounts", "layouts"] }],
    ["summarize_spending", { period: "this_month" }],
    ...accounts.map((account): [string, Json] => ["reconcile", { account }]),
  ];
  const answers: Json[] = [];
  for (const [tool, args] of calls) answers.push(await books.call(tool, args));
  return JSON.stringify(answers);
}

function assertKept(text: string, secrets: string[]): void {
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    assert(at < 0, text.slice(Math.max(at - 200, 0), at + 100));
  }
}

testBooks("the other half of a transfer", { day: "2026-10-20" }, {
  "on another member's account appears in no preview, list, history or reconciliation": async (ana) => {
    const ben = await ana.join();
    await ana.ok("update_settings", { own_only: true });
    await commit(ana, await preview(ana, "Hidden bank", ["2026-10-05", "Top up by *4411", "600.00"], COFFEE));
    const shown = await preview(ben, "Mine", ["2026-10-04", "Dublin", "-600.00"], ["2026-10-05", "Dublin", "-70.00"]);
    assertEquals([shown.rows_ok, shown.questions], [2, []]);
    await commit(ben, shown);
    assertKept(JSON.stringify(shown) + await told(ben, ["Mine"]), ["Hidden bank", "Top up", "4411"]);
    await ben.fails("not_found", "reconcile", { account: "Hidden" });
    // She sees everything, so her import removes his payment. The other half on her account stays hidden from him.
    const found = await preview(ana, "Second bank", ["2026-10-05", "Top up by *99", "70.00"], BUS);
    assertEquals(found.questions.map(({ id }: Json) => id), ["row_2"]);
    const same = await ana.ok("import_expenses", { import_id: found.import_id, answers: { row_2: "same" } });
    await commit(ana, same.preview);
    assertEquals((await ben.call("list_expenses")).totals_by_currency, { EUR: "600.00" });
    assertKept(await told(ben, ["Mine"]), ["Second bank", "Top up", "*99"]);
    // Importing his file again gives the same result.
    const again = await preview(ben, "Mine", ["2026-10-05", "Dublin", "-70.00"]);
    assertKept(JSON.stringify(again), ["Second bank", "Top up", "*99"]);
  },
  "in a private category is neither named nor removed": async (ana) => {
    const ben = await ana.join();
    await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await ana.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await commit(
      ana,
      await preview(ana, "Firm", ["2026-10-04", "Bonus of Carl", "-600.00"], COFFEE, [
        ...["2026-10-06", "Top up by *77", "50.00"] as const,
      ]),
    );
    const { rows: listed } = await ana.ok("list_expenses");
    const { id } = listed.find(({ name }: Json) => name === "Bonus of Carl");
    await ana.ok("update_expenses", { ids: [id], set: { category: "Payroll" } });
    // A member with limited access learns nothing about income on others' accounts either.
    const rows = [["2026-10-05", "Top up by *4411", "600.00"], ["2026-10-06", "Dublin", "-50.00"]] as const;
    const shown = await preview(ben, "Depot", [...rows[0]], [...rows[1]]);
    assertEquals([shown.rows_ok, shown.questions, shown.removes], [1, [], undefined]);
    await commit(ben, shown);
    assertKept(JSON.stringify(shown) + await told(ben, ["Depot"]), ["Bonus", "Carl", "Payroll", "*77"]);
    assertEquals((await ana.call("list_expenses")).totals_by_currency, { EUR: "654.00" });
    // A member who sees the expense gets the question.
    const asked = await preview(ana, "Third", ["2026-10-05", "Top up by *4411", "600.00"], BUS);
    assertEquals(asked.questions.map(({ id }: Json) => id), ["row_2"]);
  },
});
