/** "REWE is always Groceries" is stored, applied to expenses without a category, listed and removed. */
import { assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { type Json, type Member, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

const household = () => newMember(database, { plan: "team" });

const tell = (member: Member, payee: string, category?: string | null) =>
  member.ok("update_settings", { payee_rules: [{ payee, category }] });
const rulesOf = async (member: Member) =>
  (await member.ok("get_context", { include: ["payees"] })).data.payee_rules
    .map(({ payee, category }: Json) => `${payee} is ${category}`);
/** The category for a payee or name, with its source. */
const chosen = async (member: Member, item: Json) => {
  const { data } = await member.ok("log_expenses", { items: [{ name: "Card", amount: "1", ...item }], dry_run: true });
  return [data.results[0].category, data.results[0].category_source];
};

Deno.test("a rule is stored, applied to logs and imports, listed, removed and undone", async () => {
  const member = await household();
  const told = await tell(member, "REWE", "groceries");
  assertEquals(told.data.payee_rules, [{ payee: "REWE", category: "Groceries" }]);
  assertEquals(await rulesOf(member), ["REWE is Groceries"]);
  assertEquals(await chosen(member, { payee: "Rewe Markt 1234" }), ["Groceries", "payee_rule"]);
  assertEquals(await chosen(member, { name: "rewe sagt danke" }), ["Groceries", "payee_rule"]);
  // An explicit category wins, even "none".
  assertEquals(await chosen(member, { payee: "REWE", category: "Gifts" }), ["Gifts", "given"]);
  assertEquals((await chosen(member, { payee: "REWE", category: "Uncategorized" }))[1], "given");
  const csv = "Date,Payee,Description,Category,Amount\n2026-10-01,REWE Markt,Card,,-5.00\n" +
    "2026-10-02,REWE Markt,Card,Gifts,-6.00";
  const { data: { preview } } = await member.ok("import_expenses", { csv });
  assertEquals(preview.sample.map(({ category, category_source }: Json) => [category, category_source]), [
    ["Groceries", "payee_rule"],
    ["Gifts", "given"],
  ]);
  await member.ok("import_expenses", preview.commit_with);
  const { data: { rows } } = await member.ok("list_expenses");
  assertEquals(rows.map(({ category }: Json) => category), ["Gifts", "Groceries"]);

  // The rule takes precedence over the last category, changes when set again, and ends when set to no category.
  assertEquals(await chosen(member, { payee: "REWE Markt" }), ["Groceries", "payee_rule"]);
  await tell(member, "rewe", "Shopping");
  assertEquals(await rulesOf(member), ["rewe is Shopping"]);
  const removed = await tell(member, "Rewe", null);
  assertEquals(removed.data.payee_rules, []);
  assertEquals(await chosen(member, { payee: "REWE Markt" }), ["Gifts", "payee_history"]);
  assertEquals((await member.fails("update_settings", { payee_rules: [{ payee: "REWE" }] })).code, "not_found");
  const { data: undone } = await member.ok("undo_change", { change_id: removed.change_id });
  assertEquals(undone.reversed.map(({ what }: Json) => what), ["The rule for rewe restored"]);
  assertEquals(await rulesOf(member), ["rewe is Shopping"]);
  const { data: { recent_changes } } = await member.ok("get_context", { include: ["recent_changes"] });
  assertEquals(recent_changes[1].summary, "Payee rules: none for Rewe");
});

Deno.test("a rule matches leading whole words, ignoring case, accents and signs; longer rules win", async () => {
  const member = await household();
  await member.ok("update_settings", {
    payee_rules: [
      { payee: "Café Zoë", category: "Food" },
      { payee: "Amazon", category: "Shopping" },
      { payee: "Amazon Prime", category: "Subscriptions" },
      { payee: "H&M", category: "Gifts" },
    ],
  });
  for (
    const [payee, category] of [
      ["CAFE ZOE", "Food"],
      ["Cafe\u0301  Zoe\u0308 / Berlin", "Food"],
      ["Café Zoëlle", undefined],
      ["Mein Café Zoë", undefined],
      ["AMAZON.DE*1234", "Shopping"],
      ["amazon prime video", "Subscriptions"],
      ["Amazonas Reisen", undefined],
      ["H & M 0042", "Gifts"],
    ] as const
  ) {
    const [found, why] = await chosen(member, { payee });
    assertEquals(why === "payee_rule" ? found : undefined, category, payee);
  }
});

Deno.test("rules follow a merged category, pause while it is archived, and stay in their organization", async () => {
  const member = await household();
  const neighbour = await household();
  await tell(member, "REWE", "Groceries");
  assertEquals(await rulesOf(neighbour), []);
  assertEquals((await chosen(neighbour, { payee: "Rewe" }))[1], "keyword");
  assertEquals((await neighbour.fails("update_settings", { payee_rules: [{ payee: "REWE" }] })).code, "not_found");
  const merge = await member.ok("update_settings", { category: { action: "merge", name: "Groceries", into: "Food" } });
  assertEquals(await chosen(member, { payee: "Rewe" }), ["Food", "payee_rule"]);
  await member.ok("undo_change", { change_id: merge.change_id });
  assertEquals(await chosen(member, { payee: "Rewe" }), ["Groceries", "payee_rule"]);
  await member.ok("update_settings", { category: { action: "archive", name: "Groceries" } });
  assertEquals((await chosen(member, { payee: "Rewe" }))[1], "none");
});

Deno.test("an invalid rule is refused, and nothing is written", async () => {
  const member = await household();
  const refuse = async (...rules: Json[]) => await member.fails("update_settings", { payee_rules: rules });
  const misspelt = await refuse({ payee: "REWE", category: "Food" }, { payee: "Lidl", category: "Grocery" });
  assertEquals([misspelt.code, misspelt.field], ["category_not_found", "payee_rules[1].category"]);
  assertEquals(misspelt.details.suggestions, ["Groceries"]);
  assertMatch((await refuse({ payee: "***", category: "Food" })).message, /needs a word/);
  assertEquals((await refuse({ payee: "REWE", category: "Uncategorized" })).code, "category_not_found");
  for (let batch = 0; batch < 4; batch++) {
    await member.ok("update_settings", {
      payee_rules: Array.from({ length: 50 }, (_, n) => ({ payee: `Shop ${batch} ${n}`, category: "Shopping" })),
    });
  }
  assertMatch((await refuse({ payee: "REWE", category: "Food" })).message, /at most 200/);
  assertEquals((await rulesOf(member)).length, 200);
  // A file with the maximum number of rows, each with a long name of many words.
  const name = "Shop 3 49 ".repeat(12).trim();
  const csv = ["Date,Name,Amount", ...Array.from({ length: 500 }, (_, n) => `2026-10-01,${name},-${n + 1}.00`)].join(
    "\n",
  );
  await member.ok("import_expenses", { csv });
});
