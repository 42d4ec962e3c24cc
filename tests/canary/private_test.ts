/**
 * One organization has a canary in a private category. No tool, mail, feed, file or page shows it to people without
 * access; the owner, a manager and a viewer with access see it.
 */
import { assert, assertEquals } from "@std/assert";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { type Books, confirmed } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { AMOUNT, CATEGORY, openPrivateBooks, type PrivateBooks, privateLeaks } from "./private.ts";
import { NOW, WORD } from "./tenants.ts";

const database = await sharedDatabase();

async function fresh(): Promise<PrivateBooks> {
  await database.reset();
  return await openPrivateBooks(database);
}

type Args = Record<string, unknown>;

/** Each tool's calls. None of them contains the canary, except by an id or a part of its name. */
const CALLS: Record<string, (books: PrivateBooks) => Args[]> = {
  get_context: () => [{
    include: ["categories", "settings", "payees", "recent_changes", "provider_links", "members"],
    changes_limit: 50,
  }],
  list_expenses: () => [
    { from: "2026-01-01", to: "2026-12-31" },
    { format: "csv", from: "2026-01-01" },
    { query: "salary" },
    { sort: "amount" },
    { categories: ["Payroll"] },
    { query: "note" },
    { kind: "income" },
    { kind: "income", categories: ["Payroll"] },
  ],
  summarize_spending: () => [
    { from: "2026-01-01", to: "2026-12-31" },
    { from: "2026-11-01", to: "2026-11-30", group_by: ["category", "payee"], include_upcoming: true },
    { group_by: ["tag"], compare: "previous_period" },
    { categories: ["Payroll"] },
    { kind: "income", group_by: ["category", "payee"] },
    { kind: "net" },
  ],
  show_spending_chart: () => [{}],
  list_bills: ({ ids }) => [{}, { status: "all", due_within_days: 366 }, { query: "pension" }, { bill_id: ids.bill }],
  review_bills: () => [{}],
  forecast: () => [{ until: "2027-10-31" }, { spend: "10" }],
  reconcile: ({ accountId }) => [{ account: accountId }],
  log_expenses: () => [
    { items: [{ name: "Bread money", amount: "2.00", kind: "income" }] },
    { items: [{ name: "Bread", amount: "2.00" }] },
    { items: [{ name: "Bread roll", amount: "2.00", category: "Payroll" }] },
    { items: [{ name: "salary", amount: "1.00", date: "2026-11-18", external_id: "payroll-11" }] },
  ],
  import_expenses: ({ statement }) => [{ ...statement, account: "Bank" }],
  update_expenses: ({ ids }) => [
    { ids: [ids.expense], set: { note: "Mine" } },
    { ids: [ids.expense], set: { category: "Payroll" } },
    { ids: [ids.income], set: { note: "Mine" } },
  ],
  add_bill: () => [{ name: "pension", amount: "15.00", first_due: "2026-12-21" }],
  update_bill: ({ ids }) => [{ bill_id: ids.bill, set: { note: "Mine" } }, { bill_id: ids.bill, set: { amount: "1" } }],
  mark_bill_paid: ({ ids }) => [{ bill_id: ids.bill }, { bill_name: "health" }],
  draft_cancellation: ({ ids }) => [{ bill_id: ids.bill }, { bill_name: "health" }],
  list_documents: ({ ids }) => [{}, { query: "a" }, { document_id: ids.document }],
  attach_document: ({ ids }) => [{ document_id: ids.document }, { document_id: ids.document, to: "none" }],
  settle_up: () => [{}, { to: "owner", amount: "1.00" }],
  sync_bill_amounts: ({ ids }) => [{}, { bill_ids: [ids.variableBill] }],
  delete_records: ({ ids }) => [{ ids: [ids.expense] }, { ids: [ids.bill] }, { ids: [ids.income] }],
  undo_change: ({ ids }) => [{ change_id: ids.change }, { change_id: ids.opening }, {}],
  decide_proposal: () => [{ proposal_id: "prop_000000000001", hash: "a", decision: "approve" }],
  update_settings: () => [
    { category: { action: "rename", name: "Payroll", new_name: "Staff" } },
    { category: { action: "merge", name: "Payroll", into: "Food" } },
    { category: { action: "create", name: "Payrol" } },
    { budget: { action: "set", amount: "100.00" } },
    { payee_rules: [{ payee: "Baker", category: "Food" }] },
    { reminders: { my_mails: "all" } },
  ],
};

const READS = TOOLS.filter(({ listed }) => listed.annotations.readOnlyHint).map(({ listed }) => listed.name);

Deno.test("the calls cover every tool", () => {
  assertEquals(
    Object.keys(CALLS).toSorted(),
    TOOLS.map(({ listed }) => listed.name as string).toSorted(),
    "Add calls of the tool to CALLS; those of a reading tool must find the private records.",
  );
});

for (const who of ["member", "viewer"] as const) {
  Deno.test(`no tool shows private records to a ${who}, or changes them`, async () => {
    const books = await fresh();
    const privateRows = () =>
      database.query(
        `select to_jsonb(e)::text as row from app.expenses as e where e.id = any ($1)
         union all select to_jsonb(p)::text from app.payments as p where p.id = any ($1)
         union all select to_jsonb(i)::text from app.incomes as i where i.id = any ($1)
         union all select to_jsonb(c)::text from app.categories as c where c.id = any ($1) order by 1`,
        [books.allIds],
      );
    const before = await privateRows();
    const findings: string[] = [];
    for (const [tool, callsOf] of Object.entries(CALLS)) {
      for (const args of callsOf(books)) {
        const sent = JSON.stringify(args);
        // The steps of an import are internal.
        if (!("step" in args) && !TOOLS.find(({ listed }) => listed.name === tool)!.parse(args).ok) {
          findings.push(`${tool} does not take ${sent}`);
        }
        const answer = await books.people[who].call(tool, args);
        const leaks = privateLeaks(JSON.stringify(answer), books, sent);
        if (leaks.length > 0) findings.push(`${tool} ${sent} shows ${leaks.join()}: ${JSON.stringify(answer)}`);
      }
    }
    assertEquals(findings, []);
    assertEquals(await privateRows(), before);
  });
}

Deno.test("owner, manager and a viewer with access see it in every reading tool", async () => {
  const books = await fresh();
  for (const who of ["owner", "manager", "opened"] as const) {
    for (const tool of READS) {
      const answers = [];
      for (const args of CALLS[tool]!(books)) answers.push(await books.people[who].call(tool, args));
      assert(
        privateLeaks(JSON.stringify(answers), books).length > 0,
        `${who} does not see it in ${tool}: add a call, or filter a tool that only counts out of READS and test its counts`,
      );
    }
  }
});

Deno.test("private records behave as if they didn't exist", async () => {
  const books = await fresh();
  const { member, owner } = books.people;
  const said = async (tool: string, args: Args) => {
    const { ok, error, warnings } = await member.call(tool, args);
    return JSON.stringify({ ok, error, warnings }).replaceAll(/\b[a-z]+_[0-9a-f]{15}\b/g, "id").replaceAll(
      /Zq7Canary|Unheard/g,
      "X",
    );
  };
  const none = { exp: `exp_${"0".repeat(15)}`, bill: `bill_${"0".repeat(15)}`, chg: `chg_${"0".repeat(15)}` };
  const pairs: [string, (word: string, ids: { exp: string; bill: string; chg: string }) => Args][] = [
    ["list_expenses", (word) => ({ categories: [`${word} Payroll`] })],
    ["log_expenses", (word) => ({ items: [{ name: "Ink", amount: "1.00", category: `${word} Payroll` }] })],
    ["log_expenses", (word) => ({
      // On another day, because the two calls would resemble each other.
      items: [{
        name: `${word} salary`,
        payee: `${word} GmbH`,
        amount: AMOUNT,
        date: `2026-11-${word === WORD ? 18 : 17}`,
      }],
    })],
    ["update_expenses", (_, { exp }) => ({ ids: [exp], set: { note: "Mine" } })],
    ["delete_records", (_, { exp }) => ({ ids: [exp] })],
    ["mark_bill_paid", (_, { bill }) => ({ bill_id: bill })],
    ["mark_bill_paid", (word) => ({ bill_name: `${word} health` })],
    ["update_bill", (_, { bill }) => ({ bill_id: bill, set: { note: "Mine" } })],
    ["undo_change", (_, { chg }) => ({ change_id: chg })],
    ["update_settings", (word) => ({ budget: { action: "set", category: `${word} Payroll`, amount: "5.00" } })],
    ["update_settings", (word) => ({ payee_rules: [{ payee: `${word} GmbH` }] })],
    ["update_settings", (word) => ({ payee_rules: [{ payee: `${word} GmbH`, category: "Food" }] })],
    ["update_settings", (word) => ({ category: { action: "archive", name: `${word} Payroll` } })],
    ["update_settings", (word) => ({ category: { action: "create", name: `${word} Payroll` } })],
  ];
  const { expense: exp, bill, change: chg } = books.ids;
  // Without it, the first amount below would raise a question, because it far exceeds the earlier ones.
  await member.ok("log_expenses", { items: [{ name: "Piano", amount: "9000000.00", date: "2026-10-01" }] });
  for (const [tool, args] of pairs) {
    assertEquals(await said(tool, args(WORD, { exp, bill, chg })), await said(tool, args("Unheard", none)), tool);
  }
  // The member has a separate category of the same name. For people who see both, the name means the private one.
  await member.ok("log_expenses", { items: [{ name: "Ink", amount: "1.00", category: CATEGORY }] });
  const { rows } = await owner.ok("list_expenses", { categories: [CATEGORY] });
  assertEquals(rows.some(({ name }: { name: string }) => name === "Ink"), false);
  // The member's rule is separate, too.
  const logged = await owner.ok("log_expenses", { items: [{ name: "Raise", payee: `${WORD} GmbH`, amount: "9.00" }] });
  assertEquals(logged.results[0].category, CATEGORY);
  await owner.ok("update_settings", { payee_rules: [{ payee: `${WORD} GmbH`, category: "Gifts" }] });
  const { payee_rules } = await owner.ok("get_context", { include: ["payees"] });
  assertEquals(
    payee_rules,
    [
      { payee: `${WORD} GmbH`, category: "Gifts" },
      { payee: "Unheard GmbH", category: "Food" },
    ].toSorted((a, b) => a.payee < b.payee ? -1 : 1),
  );
  // Two categories of one name cannot become the same kind.
  await owner.fails("duplicate", "update_settings", { category: { action: "make_shared", name: CATEGORY } });
});

Deno.test("totals, budgets and counts cover only visible records", async () => {
  const books = await fresh();
  const { owner, member, viewer } = books.people;
  await owner.ok("update_settings", { budget: { action: "set", amount: "1000.00" } });
  for (const person of [member, viewer]) {
    const answer = await person.call("summarize_spending", { from: "2026-11-01", to: "2026-11-30" });
    assertEquals(answer.data.budgets.map(({ category, spent }: Args) => [category, spent]), [[undefined, "13.00"]]);
    const listed = await person.call("list_expenses", { from: "2026-11-01", to: "2026-11-30" });
    assertEquals([listed.total_count, listed.totals_by_currency], [2, { EUR: "13.00" }]);
  }
});

Deno.test('"undo that" does not skip one\'s own change that has become private since', async () => {
  const books = await fresh();
  const { owner, member } = books.people;
  await member.ok("log_expenses", { items: [{ name: "Pens", amount: "4.00" }] });
  const { results } = await member.ok("log_expenses", { items: [{ name: "Bonus", amount: "5.00" }] });
  await owner.ok("update_expenses", { ids: [results[0].id], set: { category: CATEGORY } });
  await member.fails("not_found", "undo_change");
  assertEquals((await member.call("list_expenses", { query: "Pens" })).total_count, 1);
});

Deno.test("a member without the right can't change a category's privacy, even by undo", async () => {
  const books = await fresh();
  const { owner, manager, member, opened } = books.people;
  const make = (action: string, name: string) => ({ category: { action, name } });
  await member.fails("forbidden_role", "update_settings", make("make_private", "Food"));
  await database.query("update identity.memberships set role = 'member' where user_id = $1", [opened.userId]);
  await opened.fails("forbidden_role", "update_settings", make("make_shared", CATEGORY));
  const shared = await manager.call("update_settings", make("make_shared", CATEGORY));
  assert((await member.ok("list_expenses", { categories: [CATEGORY] })).rows.length > 0);
  await member.fails("forbidden_role", "undo_change", { change_id: shared.change_id });
  await owner.ok("undo_change", { change_id: shared.change_id });
  await member.fails("category_not_found", "list_expenses", { categories: [CATEGORY] });
});

Deno.test("a hidden change stays hidden after its contents are purged", async () => {
  const { people: { owner, member, viewer } } = await fresh();
  await member.ok("log_expenses", { items: [{ name: "Pens", amount: "4.00" }] });
  const shownTo = async ({ userId, organizationId }: Books): Promise<string[][]> => {
    const own = { user_id: userId, organization_id: organizationId, at: NOW };
    const activity: string[] = [];
    let before: string | null = null;
    do {
      const page: Args = await database.asService<Args>("read_activity", { ...own, filter: {}, before });
      activity.push(...(page.changes as Args[]).map(({ id }) => id as string));
      before = (page.next ?? null) as string | null;
    } while (before !== null);
    const wanted = { ...own, part: "changes", after: null, from_on: null, to_on: null };
    // Members may not export.
    const { page } = await database.asService<{ page?: { rows: Args[] } }>("read_export", wanted);
    return [activity, ...(page ? [page.rows.map(({ id }) => id as string)] : [])].map((ids) => ids.toSorted());
  };
  const earlier = new Map<Books, string[][]>();
  for (const person of [owner, member, viewer]) earlier.set(person, await shownTo(person));
  const purged = await database.query<{ done: Record<string, number> }>("select jobs.purge_expired($1) as done", [
    "2026-12-22T10:00:00Z",
  ]);
  assertEquals(purged[0]!.done.emptied_changes, earlier.get(owner)![0]!.length);
  assertEquals(await shownTo(owner), earlier.get(owner));
  const made = await database.query<{ id: string }>(
    "select id from app.change_sets where actor_id = $1 order by id",
    [member.userId],
  );
  assertEquals(made.length, 2);
  const own = made.map(({ id }) => id);
  assertEquals(await shownTo(member), [own]);
  assertEquals(await shownTo(viewer), [[], []]);
});

Deno.test("a private expense's statement line stays private after the expense is purged", async () => {
  const { people: { owner, member, viewer }, accountId, allIds } = await fresh();
  const lines = (person: Books) => person.ok("reconcile", { account: accountId });
  const wages = (await owner.ok("list_expenses", { query: "WAGES" })).rows[0].id;
  await owner.ok("delete_records", await confirmed(owner, [wages]));
  await database.query("select jobs.purge_expired($1)", ["2026-12-22T10:00:00Z"]);
  assertEquals(await database.query("select from app.expenses where id = $1", [wages]), []);
  assertEquals((await lines(owner)).bank_only.map(({ text }: { text: string }) => text), [`${WORD} WAGES`]);
  for (const person of [member, viewer]) {
    const seen = await lines(person);
    assertEquals(privateLeaks(JSON.stringify(seen), { allIds }), []);
    assertEquals([seen.bank_only_count, seen.linked_count], [0, 1]);
  }
});

Deno.test("mails, feeds, files and pages show private records only to people with access", async () => {
  const books = await fresh();
  const { people } = books;
  for (const [who, person] of Object.entries(people)) {
    const sees = who !== "member" && who !== "viewer";
    const check = (what: string, value: unknown) => {
      const leaks = privateLeaks(JSON.stringify(value), books);
      assertEquals(leaks.length > 0, sees, `${who}: ${what} ${leaks.join()}`);
    };
    const token_hash = who.padEnd(32, "x").split("").map((c) => c.charCodeAt(0).toString(16)).join("");
    const own = { user_id: person.userId, organization_id: person.organizationId, at: NOW };
    await database.asService("create_calendar", { ...own, token_hash });
    await database.asService("change_calendar", { ...own, show_amounts: true });
    check("calendar", await database.asService("read_calendar", { token_hash, limits: {}, at: NOW }));
    check(
      "books",
      await database.asService("read_books", { ...own, month_on: null, searched: null, cursor: null, paid: null }),
    );
    check("account", await database.asService("read_account", { user_id: person.userId, at: NOW }));
    check("activity", await database.asService("read_activity", { ...own, filter: {}, before: null }));
    const exported = { part: "changes", after: null, from_on: null, to_on: null };
    check("export", await database.asService("read_export", { ...own, ...exported }));
    check("file", await database.asService("read_expense_file", { ...own, arguments: { from: "2026-01-01" } }));
  }
  const mail = mailService();
  const job = createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: () => new Date(NOW) });
  await job.run();
  assertEquals(mail.delivered.length, 5);
  for (const [who, { userId }] of Object.entries(people)) {
    const mine = mail.delivered.filter(({ to }) => to.startsWith(userId));
    assert(mine[0]!.text.includes("Phone"), who);
    const leaks = privateLeaks(JSON.stringify(mine), books);
    assertEquals(leaks.length > 0, who !== "member" && who !== "viewer", `${who}: ${leaks.join()}`);
  }
});
