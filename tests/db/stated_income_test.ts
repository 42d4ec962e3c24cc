/** Income of two people on statements, and the same income stated by a person: each is expected once. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

const BEN = ["01-30", "02-27", "03-31", "04-30", "05-29", "06-30", "07-31", "09-30", "10-30"];
const ANNA = ["05-28", "06-26", "07-28", "08-28", "09-28", "10-28", "11-27"];

async function commit(books: Books, account: string, rows: string[]): Promise<Json> {
  const file = `Date,Payee,Name,Amount\n${rows.join("\n")}\n`;
  const given = {
    account,
    mapping: { date: "Date", payee: "Payee", name: "Name", amount: "Amount", negative_is_expense: true },
  };
  const { preview } = await books.ok("import_expenses", importOfFile(file, given));
  return await books.call("import_expenses", preview.commit_with);
}
const ben = (day: string) => `2026-${day},Kraft Logistik GmbH,Gehalt Ben Weber ${day.slice(0, 2)}/2026,2180.00`;
const anna = (day: string) =>
  `2026-${day},Klinikum Nordstadt gGmbH,Lohn/Gehalt Anna Weber ${day.slice(0, 2)}/2026,2450.00`;
const balance = (books: Books) =>
  books.ok("log_expenses", {
    items: ["Joint", "Own"].map((name) => ({ name, amount: "1000", kind: "balance", date: "2026-11-29" })),
  });

/** Ben is paid into the joint account at the end of each month, except in August; Anna into her own on the 28th. */
async function family(books: Books, { days = BEN } = {}): Promise<void> {
  await commit(books, "Joint", ["2026-01-02,Hausmann KG,Miete,-1450.00", ...days.map(ben)]);
  await commit(books, "Own", ["2026-05-03,FitWorld,Mitgliedsbeitrag,-34.90", ...ANNA.map(anna)]);
  await balance(books);
}
const state = (books: Books, item: Json) =>
  books.call("log_expenses", {
    items: [{ name: "Salary", amount: "2450", kind: "income", repeats: "monthly", ...item }],
  });
/** The expected income of an account, or of all: its day and amount. */
async function expected(books: Books, until: string, account?: string): Promise<string[]> {
  const { days } = await books.ok("forecast", { until, ...(account ? { account } : {}) });
  return days.flatMap(({ on, changes = [] }: Json) =>
    changes.flatMap((text: string) => {
      const amount = / (\d+\.\d\d) EUR$/.exec(text)?.[1];
      return amount ? [`${on} ${amount}`] : [];
    })
  );
}
const warned = ({ warnings }: Json) => warnings.map(({ code }: Json) => code);
const BOTH = ["2026-12-28 2450.00", "2026-12-30 2180.00"];

testBooks("income of statements", { day: "2026-11-30" }, {
  "is expected although one month was missed": async (books) => {
    await family(books);
    assertEquals(await expected(books, "2026-12-31", "Joint"), ["2026-11-30 2180.00", "2026-12-30 2180.00"]);
    assertEquals(await expected(books, "2026-12-31", "Own"), ["2026-12-28 2450.00"]);
  },
  "is expected after the latest month was missed": async (books) => {
    await family(books, { days: [...BEN.slice(0, -2), "08-31", "09-30", "11-30"] });
    await books.ok("log_expenses", { items: [{ name: "Joint", amount: "1000", kind: "balance" }] });
    assertEquals(await expected(books, "2026-12-31", "Joint"), ["2026-12-30 2180.00"]);
  },
  "is expected although several months in a row were missed, and is one rhythm with months in words": async (books) => {
    const days = ["03-31", "04-30", "05-29", "06-30", "07-31", "08-31", "11-30"];
    const months = ["März", "April", "Mai", "Juni", "Juli", "August", "November"];
    const names = [["Joint", "Gehalt", "1450"], ["Own", "Salary for", "34"]] as const;
    for (const [account, name, cost] of names) {
      const rows = days.map((day, i) => `2026-${day},,${name} ${months[i]} 2026,2180.00`);
      await commit(books, account, [`2026-01-02,${account},Miete,-${cost}.00`, ...rows]);
      await books.ok("log_expenses", { items: [{ name: account, amount: "1000", kind: "balance" }] });
    }
    const { days: ahead } = await books.ok("forecast", { until: "2026-12-31" });
    assertEquals(ahead.flatMap(({ on, changes }: Json) => (changes ?? []).map((text: string) => [on, text])), [
      ["2026-12-30", "Gehalt 2180.00 EUR"],
      ["2026-12-30", "Salary 2180.00 EUR"],
    ]);
  },
  "that stopped is named with its amount and last day": async (books) => {
    await family(books, { days: BEN.slice(0, -1) });
    const { left_out } = await books.ok("forecast", { until: "2026-12-31" });
    assertStringIncludes(
      left_out.join("\n"),
      '"Gehalt Ben Weber Kraft Logistik GmbH", 2180.00 EUR, came regularly until 2026-09-30 and',
    );
  },
});
testBooks("a stated income", { day: "2026-11-30" }, {
  "with the statement's amount and day counts as the statement's income": async (books) => {
    await family(books, { days: [...BEN, "11-30"] });
    for (
      const item of [
        { date: "2026-11-28" },
        { date: "2026-12-28" },
        { name: "My salary", date: "2026-12-28" },
        { name: "Gehalt Anna", payee: "Klinikum Nordstadt gGmbH", date: "2026-12-28" },
        { name: "Gehalt Weber", date: "2026-12-28" },
      ]
    ) {
      const said = await state(books, item);
      assertEquals([item, warned(said)], [item, ["income_known"]]);
      assertEquals([item, await expected(books, "2026-12-31")], [item, BOTH]);
      assertEquals([item, await expected(books, "2026-12-31", "Own")], [item, [BOTH[0]]]);
      assertEquals([item, await expected(books, "2026-12-31", "Joint")], [item, [BOTH[1]]]);
      await books.ok("undo_change", { change_id: said.change_id });
    }
  },
  "that has arrived is counted once, on its payer's account": async (books) => {
    await family(books);
    await state(books, { name: "Gehalt Ben Weber", amount: "2180", date: "2026-11-30" });
    assertEquals(await expected(books, "2026-12-31"), ["2026-11-30 2180.00", ...BOTH]);
    assertEquals(await expected(books, "2026-12-31", "Joint"), ["2026-11-30 2180.00", BOTH[1]]);
    const { left_out } = await books.ok("forecast", { until: "2026-12-31" });
    assertEquals(left_out.filter((text: string) => /total only/.test(text)), []);
  },
  "does not count another person's income in a month without its own": async (books) => {
    await family(books, { days: BEN });
    await state(books, { name: "Ben's salary", amount: "2300", date: "2026-12-31" });
    assertEquals(await expected(books, "2026-12-31", "Own"), ["2026-12-28 2450.00"]);
    assertEquals(await expected(books, "2026-12-31", "Joint"), ["2026-11-30 2180.00", "2026-12-31 2300.00"]);
  },
  "with a raise that begins later keeps the statement's amount until then": async (books) => {
    await family(books, { days: [...BEN, "11-30"] });
    for (const name of ["Gehalt Ben Weber", "Ben's salary"]) {
      const said = await state(books, { name, amount: "2380", date: "2027-05-31" });
      assertEquals(warned(said), ["income_known"]);
      assertEquals((await expected(books, "2027-06-30", "Joint")).map((text) => text.slice(2)), [
        "26-12-31 2180.00",
        "27-01-31 2180.00",
        "27-02-28 2180.00",
        "27-03-31 2180.00",
        "27-04-30 2180.00",
        "27-05-31 2380.00",
        "27-06-30 2380.00",
      ]);
      await books.ok("undo_change", { change_id: said.change_id });
    }
  },
});
testBooks("a private category", { day: "2026-11-30" }, {
  "of earlier income applies to the next statement of the payer": async (books) => {
    const member = await books.join();
    await family(books);
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    const { rows } = await books.ok("list_expenses", { kind: "income", limit: 50 });
    const ids = rows.filter(({ name }: Json) => /Anna/.test(name)).map(({ id }: Json) => id);
    await books.ok("update_expenses", { ids, set: { category: "Payroll" } });
    const seen = async () =>
      (await member.ok("list_expenses", { kind: "income", limit: 50 })).rows
        .filter(({ name }: Json) => !/Ben/.test(name)).map(({ name }: Json) => name);
    assertEquals(await seen(), []);
    books.goTo("2026-12-29");
    await commit(books, "Own", ["2026-12-03,FitWorld,Mitgliedsbeitrag,-34.90", anna("12-28")]);
    assertEquals(await seen(), []);
    // If a person states it, it gets the category as well.
    await state(books, { name: "Gehalt Anna Weber", date: "2027-01-28" });
    assertEquals(await seen(), []);
  },
  "applies to entries of people who may not see it; only they and people with access see these entries": async (
    books,
    database,
  ) => {
    await family(books);
    const [member, colleague, viewer] = [await books.join(), await books.join(), await books.join("viewer")];
    const other = await openBooks(database, { day: books.today() });
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    const income = async (of: Books) =>
      (await of.ok("list_expenses", { kind: "income", limit: 50 })).rows.filter(({ name }: Json) => /Anna/.test(name));
    const ids = (await income(books)).map(({ id }: Json) => id);
    await books.ok("update_expenses", { ids, set: { category: "Payroll" } });
    await books.ok("update_settings", { payee_rules: [{ payee: "Stadtwerke", category: "Payroll" }] });
    for (const  of of[books, member, colleague, viewer, other]) of.goTo("2026-12-29");
    const december = [
      "2026-12-03,FitWorld,Mitgliedsbeitrag,-34.90",
      anna("12-28"),
      "2026-12-28,Stadtwerke,Gehalt Anna Weber,300.00",
    ];
    const unseen = async (of: Books) => {
      const said = JSON.stringify([
        await of.call("list_expenses", { kind: "income" }),
        await of.call("summarize_spending", { kind: "income", period: "all_time", group_by: ["category", "payee"] }),
        await of.call("summarize_spending", { kind: "net", from: "2026-01-01", to: "2026-12-31" }),
        await of.call("reconcile", { account: "Own" }),
        await of.call("get_context", { include: ["recent_changes", "categories"] }),
        await of.call("forecast", { until: "2027-02-28" }),
      ]);
      assertEquals(/Anna|Stadtwerke|Payroll|2450/.test(said), false, said);
    };
    const imported = await commit(member, "Own", december);
    assertEquals(imported.data.income, { created: 2, totals: { EUR: "2750.00" } });
    const said = await state(member, { name: "Gehalt Anna Weber", date: "2027-01-28" });
    const categories = async (of: Books) =>
      (await of.ok("list_expenses", { kind: "income", from: "2026-12-01" })).rows
        .map(({ category }: Json) => category ?? "");
    assertEquals([await categories(books), await categories(member)], [["Payroll", "Payroll"], ["", ""]]);
    await unseen(colleague);
    await unseen(viewer);
    // Another organization, which has no private category, gets the same answers.
    const elsewhere = await commit(other, "Own", december);
    assertEquals(elsewhere.data.income, imported.data.income);
    assertEquals(await categories(other), ["", ""]);
    const plain = await state(other, { name: "Gehalt Anna Weber", date: "2027-01-28" });
    assertEquals(
      [said.data.results, warned(said)].map((value) => JSON.stringify(value).replaceAll(/inc_\w+/g, "id")),
      [plain.data.results, warned(plain)].map((value) => JSON.stringify(value).replaceAll(/inc_\w+/g, "id")),
    );
    await member.ok("undo_change", { change_id: said.change_id });
    await member.ok("undo_change", { change_id: imported.change_id });
    assertEquals([await categories(books), await categories(member)], [[], []]);
  },
  "set by its owner hides the entry from its creator": async (books) => {
    await family(books);
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    const { results: [{ id }] } = await books.ok("log_expenses", {
      items: [{ name: "Bonus Anna", amount: "500", kind: "income", category: "Payroll" }],
    });
    const own = await member.ok("log_expenses", { items: [{ name: "Anna bonus", amount: "90", kind: "income" }] });
    const count = async () => (await member.call("list_expenses", { kind: "income", query: "bonus" })).total_count;
    assertEquals(await count(), 1);
    await books.ok("update_expenses", { ids: [own.results[0].id], set: { note: "Checked" } });
    assertEquals([await count(), id === own.results[0].id], [0, false]);
  },
});
