/** The books page over a real database: its contents per person, and payments by single or repeated clicks. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import type { Json } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, joined, onboarded, type Person, runTool } from "./account_harness.ts";
import { formsOf, type Pages } from "./harness.ts";

interface House {
  organizationId: string;
  owner: Person;
  run(tool: string, args?: Json, who?: Person): Promise<Json>;
  join(email: string, role: string): Promise<Person>;
  /** The page with a person's access. */
  page(more?: string, who?: Person): Promise<string>;
  /** The amounts of every payment. */
  payments(): Promise<string[]>;
}

async function house(pages: Pages, database: TestDatabase): Promise<House> {
  const owner = await onboarded(pages, database, "anna@example.com", { organization_name: "Garden Street" });
  const { organizationId } = owner;
  const run: House["run"] = (tool, args, who = owner) =>
    runTool({ pages, database }, { ...who, organizationId }, tool, args);
  return {
    organizationId,
    owner,
    run,
    join: (email, role) => joined(pages, database, { email, organizationId, role }),
    page: async (more = "", who = owner) => {
      const response = await who.browser.get(`/books?organization=${organizationId}${more}`);
      assertEquals(response.status, 200);
      return await response.text();
    },
    payments: async () => (await run("list_expenses")).data.rows.map(({ amount }: Json) => amount),
  };
}

/** The visible text of a page. */
const textOf = (html: string) => html.replaceAll(/<style[\s\S]*?<\/style>|<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
const pressOf = (html: string) => formsOf(html).filter(({ html }) => html.includes('value="pay"'));
const rent = { name: "Rent", amount: "900.00", currency: "EUR", first_due: "2026-11-25" };

accountTest("empty books name the next step and link to it", async (pages, database) => {
  const { page } = await house(pages, database);
  const text = textOf(await page());
  assertStringIncludes(text, "The books of Garden Street");
  assertStringIncludes(text, "Nothing is overdue or due in the next 30 days.");
  assertStringIncludes(text, "Nothing was spent this month.");
  assertStringIncludes(text, "There are no expenses yet. Tell your assistant: “Log 14.50 for lunch today.”");
  assertFalse(text.includes("Search expenses"));
  assertStringIncludes(textOf(await page("&q=bread")), "Nothing was found.");
});

accountTest("totals equal those of the tools, in every month and currency", async (pages, database) => {
  const { run, page, organizationId, owner } = await house(pages, database);
  const items = [
    { name: "Bread", amount: "2.50", currency: "EUR", date: "2026-11-02", category: "Groceries" },
    { name: "Train", amount: "31.00", currency: "EUR", date: "2026-11-03" },
    { name: "Ramen", amount: "1200", currency: "JPY", date: "2026-11-04" },
    { name: "Shoes", amount: "80.10", currency: "EUR", date: "2026-10-20" },
  ];
  assert((await run("log_expenses", { items })).ok);
  for (const [month, from, to] of [["2026-11", "2026-11-01", "2026-11-30"], ["2026-10", "2026-10-01", "2026-10-31"]]) {
    const read = await database.asService<Json>("read_books", {
      user_id: owner.id,
      organization_id: organizationId,
      month_on: `${month}-15`,
      searched: null,
      cursor: null,
      paid: null,
      at: pages.clock.now,
    });
    assertEquals(read.spending.data, (await run("summarize_spending", { from, to, compare: "previous_period" })).data);
    assertEquals(read.expenses.data, (await run("list_expenses", { limit: 20 })).data);
    assertEquals(read.bills.data, (await run("list_bills", { due_within_days: 30, limit: 100 })).data);
    assertEquals(read.month, from);
  }
  const november = textOf(await page());
  assertStringIncludes(november, "€33.50");
  assertStringIncludes(november, "JP¥1,200");
  assertStringIncludes(november, "no exchange rate: JP¥1,200");
  const october = textOf(await page("&month=2026-10"));
  assertStringIncludes(october, "Spent in October 2026");
  assertStringIncludes(october, "Total: €80.10");
  // A search totals by currency.
  const found = textOf(await page("&q=r"));
  assertStringIncludes(found, "3 results");
  assertStringIncludes(found, "€33.50 · JP¥1,200");
  // The first step appears only in new books.
  const none = textOf(await page("&q=zzz"));
  assertStringIncludes(none, "Nothing was found.");
  assertFalse(none.includes("Tell your assistant"));
});

accountTest("typed text is escaped, even in a search", async (pages, database) => {
  const { run, page } = await house(pages, database);
  await run("log_expenses", { items: [{ name: "<b>100%_off</b>", amount: "1.00", date: "2026-11-02" }] });
  const hostile = `"><script>alert(1)</script>\u202e`;
  const html = await page(`&q=${encodeURIComponent(hostile)}`);
  assertFalse(html.includes("<script"));
  assertStringIncludes(textOf(html), "Nothing was found.");
  // The words of a search contain no pattern characters.
  assertStringIncludes(textOf(await page(`&q=${encodeURIComponent("%_o")}`)), "1 result");
  assertStringIncludes(textOf(await page(`&q=${encodeURIComponent("1%o")}`)), "Nothing was found.");
  assertStringIncludes(textOf(await page("&q=%00%27%3b--")), "Nothing was found.");
  assertFalse((await page("&q=b")).includes("<b>100"));
});

accountTest(
  "expenses after the twentieth are on further pages; an unknown cursor shows the first page page",
  async (pages, database) => {
    const { run, page, owner, organizationId } = await house(pages, database);
    const items = Array.from({ length: 25 }, (_, n) => ({ name: `Thing ${n}`, amount: "1.00", date: "2026-11-02" }));
    assert((await run("log_expenses", { items, on_duplicate: "create" })).ok);
    const first = await page();
    const [, link] = /href="([^"]+cursor=[^"]+)"/.exec(first)!;
    const second = await (await owner.browser.get(link!.replaceAll("&amp;", "&"))).text();
    const names = [first, second].map((html) => [...html.matchAll(/Thing \d+/g)].map(([name]) => name));
    assertEquals(names.map(({ length }) => length), [20, 5]);
    assertEquals(new Set(names.flat()).size, 25);
    assertStringIncludes(textOf(second), "Back to the books");
    const unknown = await owner.browser.get(`/books?organization=${organizationId}&cursor=unknown`);
    assertEquals(unknown.headers.get("location"), `/books?organization=${organizationId}`);
  },
);

accountTest("a bill with more dates than the page shows names its part of the total", async (pages, database) => {
  const { run, page } = await house(pages, database);
  const weekly = { amount: "10.00", currency: "EUR", frequency: "weekly", first_due: "2026-11-20" };
  assert((await run("add_bill", { ...rent, first_due: "2026-11-21" })).ok);
  // The page shows all its dates.
  assertFalse(textOf(await page()).includes("payments by"));
  assert((await run("add_bill", { ...weekly, name: "Cleaning" })).ok);
  const one = textOf(await page());
  assertStringIncludes(one, "due 20 November 2026 5 payments by 20 December 2026 , €50.00 in total");
  assertStringIncludes(one, "Due by 20 December 2026 €950.00");
  // Two have passed and have their own rows. The note appears once, on the next one.
  pages.clock.now = new Date("2026-12-01T10:00:00Z");
  const later = textOf(await page());
  assertStringIncludes(later, "due 4 December 2026 6 payments by 31 December 2026 , €60.00 in total");
  assertEquals(later.match(/payments by/g)?.length, 1);
});

accountTest(
  "the cost of several dates is shown as an estimate without unknown amounts",
  async (pages, database) => {
    const { run, page } = await house(pages, database);
    const weekly = { currency: "EUR", frequency: "weekly", first_due: "2026-11-20" };
    assert((await run("add_bill", { ...weekly, name: "Gas", amount: "10.00", amount_mode: "estimated" })).ok);
    const { data } = await run("add_bill", { ...weekly, name: "Water", amount_mode: "variable" });
    const unknown = textOf(await page());
    assertStringIncludes(unknown, "5 payments by 20 December 2026 , about €50.00 in total");
    assertStringIncludes(unknown, "due 20 November 2026 5 payments by 20 December 2026 Mark as paid");
    assertStringIncludes(unknown, "About €50.00 without unknown amounts");
    assert(
      (await run("update_bill", {
        bill_id: data.bill.id,
        occurrence: { action: "set_amount", due_on: "2026-11-20", amount: "7.00" },
      })).ok,
    );
    const known = textOf(await page());
    assertStringIncludes(known, "5 payments by 20 December 2026 , about €35.00 in total");
    assertStringIncludes(known, "About €85.00 Spent in");
  },
);

accountTest("the summary shows overdue, due, spent and over-budget amounts", async (pages, database) => {
  const { run, page } = await house(pages, database);
  const spend = (category: string, amount: string, date: string) =>
    run("log_expenses", { items: [{ name: category, category, amount, date }], create_missing_categories: true });
  assert((await spend("Travel", "100.00", "2026-10-02")).ok);
  // Later than this day of the month, so the comparison omits it.
  assert((await spend("Gifts", "900.00", "2026-10-31")).ok);
  assert((await spend("Books", "150.00", "2026-11-02")).ok);
  assert((await run("update_settings", { budget: { action: "set", amount: "400.00" } })).ok);
  assert((await run("update_settings", { budget: { action: "set", category: "Books", amount: "100.00" } })).ok);
  assert((await run("add_bill", { ...rent, first_due: "2026-11-21" })).ok);
  assert((await run("add_bill", { ...rent, name: "Gym", amount: "30.00", first_due: "2026-12-10" })).ok);
  const before = await page();
  assertStringIncludes(
    textOf(before),
    "Overdue Nothing Due by 20 December 2026 €930.00 Spent in November 2026 €150.00 50 % more than at this point last month " +
      "Budgets 1 of 2 over All spending: €250.00 left of €400.00",
  );
  // In the previous month, so it has no bar in this month.
  assertFalse(/<ol class="bars">.*?<\/ol>/s.exec(before)![0].includes("Travel"));
  assertStringIncludes(textOf(before), "Within a week Rent €900.00 · due 21 November 2026");
  assertMatch(before, /<details class="after-rows"><summary>1 payment later<\/summary>(?:(?!<\/details>).)*Gym/s);
  assertStringIncludes(textOf(await page("&month=2026-10")), "Spent in October 2026 €1,000.00 Budgets");
  pages.clock.now = new Date("2026-11-23T10:00:00Z");
  const after = await page();
  assertStringIncludes(
    textOf(after),
    "Overdue €900.00 1 payment Due by 23 December 2026 €1,830.00 including overdue bills",
  );
  assertStringIncludes(textOf(after), "Overdue Rent €900.00 · since 21 November 2026");
});

accountTest("the month's income is beside its spending, without private income of others", async (pages, database) => {
  const { run, page, join } = await house(pages, database);
  assertFalse(textOf(await page()).includes("Income"));
  const receive = (name: string, amount: string, more: Json = {}) =>
    run("log_expenses", { items: [{ name, amount, kind: "income", date: "2026-11-02", ...more }] });
  assert((await run("update_settings", { category: { action: "create", name: "Pay" } })).ok);
  assert((await receive("Salary", "2450.00", { category: "Pay" })).ok);
  assert((await receive("Rent of the attic", "300.00")).ok);
  assert((await receive("Old", "7.00", { date: "2026-10-02" })).ok);
  const member = await join("ben@example.com", "member");
  assertStringIncludes(textOf(await page("", member)), "Nothing was spent this month. Income: €2,750.00");
  assert((await run("update_settings", { category: { action: "make_private", name: "Pay" } })).ok);
  assertStringIncludes(textOf(await page()), "Income: €2,750.00");
  assertStringIncludes(textOf(await page("", member)), "Income: €300.00");
  assertStringIncludes(textOf(await page("&month=2026-10")), "Income: €7.00");
  assertFalse(textOf(await page("&month=2026-09")).includes("Income"));
});

accountTest("an automatic payment that waits for its amount is not overdue", async (pages, database) => {
  const { run, page } = await house(pages, database);
  const power = { name: "Power", currency: "EUR", amount_mode: "variable", autopay: true, first_due: "2026-11-25" };
  assert((await run("add_bill", power)).ok);
  pages.clock.now = new Date("2026-12-05T10:00:00Z");
  const text = textOf(await page());
  assertStringIncludes(
    text,
    "Waiting for an amount Power Amount not known yet · due 25 November 2026 · Paid automatically",
  );
  assertStringIncludes(text, "Overdue Nothing");
});

accountTest("a budget includes its carry-over", async (pages, database) => {
  const { run, page } = await house(pages, database);
  const spend = (category: string, amount: string, date: string) =>
    run("log_expenses", {
      items: [{ name: category, category, amount, date }],
      create_missing_categories: true,
    });
  assert((await spend("Travel", "50.00", "2026-11-02")).ok);
  assert((await spend("Gifts", "150.00", "2026-11-03")).ok);
  assert((await spend("Books", "300.00", "2026-11-04")).ok);
  for (const category of ["Travel", "Gifts", "Books"]) {
    const budget = { action: "set", category, amount: "100.00", carry_over: true };
    assert((await run("update_settings", { budget })).ok);
  }
  assertStringIncludes(textOf(await page()), "Travel €50.00 left of €100.00");
  pages.clock.now = new Date("2026-12-02T10:00:00Z");
  assert((await spend("Gifts", "80.00", "2026-12-01")).ok);
  const december = textOf(await page());
  assertStringIncludes(december, "Travel €150.00 left of €150.00");
  assertStringIncludes(december, "Gifts €30.00 over the budget of €50.00");
  assertStringIncludes(december, "Books €0.00 spent; earlier overspending used up the budget");
});

accountTest("a month with only unconverted amounts lists them", async (pages, database) => {
  const { run, page } = await house(pages, database);
  await run("log_expenses", { items: [{ name: "Hotel", amount: "48000", currency: "JPY", date: "2026-11-04" }] });
  const november = textOf(await page());
  assertStringIncludes(november, "Spent in November 2026 JP¥48,000, without a known exchange rate to EUR.");
  assertStringIncludes(november, "€0.00 plus JP¥48,000 without an exchange rate");
  assertFalse(november.includes("Nothing was spent") || november.includes("Not included"));
});

accountTest("a due date is paid once, confirmed, and can be undone", async (pages, database) => {
  const { run, page, owner, payments, organizationId } = await house(pages, database);
  assert((await run("add_bill", rent)).ok);
  const shown = await page();
  assertStringIncludes(textOf(shown), "€900.00");
  assertEquals(pressOf(shown).length, 1);
  const forged = await owner.browser.post("/books", { ...pressOf(shown)[0]!.fields, due_on: "2026-02-31" });
  assertEquals(forged.status, 400);
  const response = await owner.browser.submit(shown, 'value="pay"', {});
  assertEquals(response.status, 303);
  const location = response.headers.get("location")!;
  const after = await (await owner.browser.get(location)).text();
  assertStringIncludes(textOf(after), "Rent is paid: €900.00, due 25 November 2026 .");
  assertEquals(await payments(), ["900.00"]);

  // Again, as after the back button.
  const again = await owner.browser.submit(shown, 'value="pay"', {});
  assertEquals(again.headers.get("location"), `/books?organization=${organizationId}&news=already`);
  assertEquals(await payments(), ["900.00"]);

  const undone = await owner.browser.submit(after, 'value="undo"', {});
  assertEquals(undone.headers.get("location"), `/books?organization=${organizationId}&news=undone`);
  assertEquals(await payments(), []);
  assertStringIncludes(textOf(await (await owner.browser.get(location)).text()), "was undone");
  // A reopened date can be paid again from the first page.
  await owner.browser.submit(shown, 'value="pay"', {});
  assertEquals(await payments(), ["900.00"]);
});

accountTest("a click makes the tool's change in the person's name", async (pages, database) => {
  const { run, page, join, organizationId } = await house(pages, database);
  const ben = await join("ben@example.com", "member");
  const changes = async () =>
    await database.query<Json>(
      `select s.actor_id, s.tool, s.client_name, s.facts - 'name' as facts, array(
         select i.table_name from app.change_items as i where i.change_id = s.id order by i.table_name
       ) as tables
       from app.change_sets as s where s.organization_id = $1 order by s.recorded_seq`,
      [organizationId],
    );
  await run("add_bill", rent);
  const { data: { bill } } = await run("add_bill", { ...rent, name: "Flat" });
  const shown = pressOf(await page("", ben)).find(({ html }) => html.includes("Rent"))!;
  await ben.browser.post("/books", shown.fields);
  await run("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25" }, ben);
  const [pressed, called] = (await changes()).slice(-2);
  assertEquals([pressed.actor_id, pressed.tool, pressed.client_name], [ben.id, "mark_bill_paid", null]);
  assertEquals(pressed, called);
  assertStringIncludes(
    textOf(await (await ben.browser.get(`/account/activity?organization=${organizationId}`)).text()),
    "Paid €900.00 for Rent due 25 November 2026",
  );
});

accountTest("a page that was shown before the amount changed pays nothing", async (pages, database) => {
  const { run, page, owner, payments, organizationId } = await house(pages, database);
  const { data } = await run("add_bill", rent);
  const shown = await page();
  assert((await run("update_bill", { bill_id: data.bill.id, set: { amount: "950.00" } })).ok);
  const response = await owner.browser.submit(shown, 'value="pay"', {});
  assertEquals(response.headers.get("location"), `/books?organization=${organizationId}&news=changed`);
  // In the meantime an assistant pays a part, so the rest differs from the shown amount.
  const next = await page();
  assert((await run("mark_bill_paid", { bill_id: data.bill.id, due_on: "2026-11-25", amount: "50.00" })).ok);
  await owner.browser.submit(next, 'value="pay"', {});
  assertEquals(await payments(), ["50.00"]);
  const rest = await page();
  assertStringIncludes(textOf(rest), "€900.00");
  await owner.browser.submit(rest, 'value="pay"', {});
  assertEquals((await payments()).toSorted(), ["50.00", "900.00"]);
});

accountTest("a stale click does not correct a later payment by an assistant", async (pages, database) => {
  const { run, page, owner, payments } = await house(pages, database);
  const { data } = await run("add_bill", {
    name: "Power",
    amount_mode: "variable",
    currency: "EUR",
    first_due: "2026-11-25",
  });
  const shown = await page();
  assertStringIncludes(textOf(shown), "Amount not known yet");
  const refused = await owner.browser.submit(shown, 'value="pay"', { amount: "a lot" });
  assert(refused.headers.get("location")!.endsWith("news=amount"));
  assert((await run("mark_bill_paid", { bill_id: data.bill.id, due_on: "2026-11-25", amount: "61.00" })).ok);
  const stale = await owner.browser.submit(shown, 'value="pay"', { amount: "40" });
  assert(stale.headers.get("location")!.endsWith("news=already"));
  assertEquals(await payments(), ["61.00"]);
});

accountTest("an estimate is marked and can be replaced by the paid amount", async (pages, database) => {
  const { run, page, owner, payments } = await house(pages, database);
  await run("add_bill", { ...rent, name: "Gas", amount_mode: "estimated" });
  const shown = await page();
  assertStringIncludes(textOf(shown), "about €900.00");
  await owner.browser.submit(shown, 'value="pay"', { amount: "880.20" });
  assertEquals(await payments(), ["880.20"]);
});

accountTest("a typed amount may have a decimal comma", async (pages, database) => {
  const { run, page, owner, payments } = await house(pages, database);
  await run("add_bill", { name: "Power", amount_mode: "variable", currency: "EUR", first_due: "2026-11-25" });
  await owner.browser.submit(await page(), 'value="pay"', { amount: "40,50" });
  assertEquals(await payments(), ["40.50"]);
});

accountTest(
  "a payment that needs approval waits, and a second click adds no proposal",
  async (pages, database) => {
    const { run, page, join, payments, organizationId } = await house(pages, database);
    const ben = await join("ben@example.com", "member");
    await database.asService("change_approval_policy", {
      user_id: (await database.query<{ owner_id: string }>("select owner_id from identity.organizations"))[0]!.owner_id,
      organization_id: organizationId,
      rules: [{ tool: null, roles: ["member"], over: "200", currency: "EUR", over_records: null, approver: "manager" }],
      assistants_may_approve: false,
      at: pages.clock.now,
    });
    await run("add_bill", rent);
    const shown = await page("", ben);
    const first = await ben.browser.submit(shown, 'value="pay"', {});
    const again = await ben.browser.submit(shown, 'value="pay"', {});
    assertMatch(first.headers.get("location")!, /^\/account\/approvals\/prop_/);
    assertEquals(again.headers.get("location"), first.headers.get("location"));
    assertEquals(await payments(), []);
  },
);

accountTest("without a plan the books can be read, and a click explains its refusal", async (pages, database) => {
  const { run, page, owner, payments } = await house(pages, database);
  await run("add_bill", rent);
  const shown = await page();
  const plans = await database.query<{ plan: string }>(
    "delete from billing.plan_features where feature = 'ai:connector' returning plan",
  );
  const without = await page();
  assertStringIncludes(textOf(without), "€900.00");
  assertEquals(pressOf(without), []);
  const response = await owner.browser.submit(shown, 'value="pay"', {});
  assertEquals(response.status, 403);
  assertStringIncludes(textOf(await response.text()), "doesn’t include adding or changing anything. Choose a plan");
  for (const { plan } of plans) {
    await database.query("insert into billing.plan_features (plan, feature) values ($1, 'ai:connector')", [plan]);
  }
  assertEquals(await payments(), []);
});

accountTest("a closed month refuses the click", async (pages, database) => {
  const { run, page, owner, payments } = await house(pages, database);
  await run("add_bill", rent);
  const shown = await page();
  await database.query(
    "update identity.organizations set closed_through = '2026-11-30' where owner_id = $1",
    [owner.id],
  );
  const response = await owner.browser.submit(shown, 'value="pay"', {});
  assert(response.headers.get("location")!.endsWith("news=closed"), response.headers.get("location")!);
  assertEquals(await payments(), []);
});

accountTest("a viewer sees no buttons, and a forged click is refused", async (pages, database) => {
  const { run, page, join, payments, organizationId } = await house(pages, database);
  const viewer = await join("vera@example.com", "viewer");
  await run("add_bill", rent);
  const [press] = pressOf(await page());
  const seen = await page("", viewer);
  assertStringIncludes(textOf(seen), "€900.00");
  assertEquals(pressOf(seen), []);
  const token = /name="form_token" value="([^"]+)"/.exec(
    await (await viewer.browser.get("/account")).text(),
  )![1]!;
  const response = await viewer.browser.post("/books", { ...press!.fields, form_token: token });
  assertEquals(response.headers.get("location"), `/books?organization=${organizationId}&news=role`);
  assertEquals(await payments(), []);
});

accountTest("nobody sees or pays bills of another organization", async (pages, database) => {
  const { run, page, payments, organizationId } = await house(pages, database);
  await run("add_bill", rent);
  const [press] = pressOf(await page());
  pages.provider.mails.length = 0;
  const other = await onboarded(pages, database, "zoe@example.com", { organization_name: "Elsewhere" });
  const books = await other.browser.get(`/books?organization=${organizationId}`);
  assertEquals(books.status, 404);
  assertFalse((await books.text()).includes("Rent"));
  const own = await (await other.browser.get("/books")).text();
  assertStringIncludes(textOf(own), "The books of Elsewhere");
  const token = /name="form_token" value="([^"]+)"/.exec(await (await other.browser.get("/account")).text())![1]!;
  const response = await other.browser.post("/books", { ...press!.fields, form_token: token });
  assertEquals(response.status, 404);
  assertEquals(await payments(), []);
});

accountTest("balances show only debts that the person may see", async (pages, database) => {
  const books = await house(pages, database);
  const ben = await books.join("ben@example.com", "member");
  const viewer = await books.join("vera@example.com", "viewer");
  assertFalse((await books.page()).includes("Shared costs"));
  await books.run("log_expenses", { items: [{ name: "Dinner", amount: "46.80", shared: {} }] });
  const [mine, his, hers] = [await books.page(), await books.page("", ben), await books.page("", viewer)];
  assertMatch(mine, /<bdi>ben@example\.com<\/bdi> owes you €23\.40|ben@example\.com[^.]* owes you [^<]*23[.,]40/);
  assertMatch(his, /You owe [^.]*anna@example\.com[^.]* [^<]*23[.,]40/);
  assertMatch(hers, /ben@example\.com[^.]* owes [^.]*anna@example\.com[^.]* [^<]*23[.,]40/);
  // Payer and shares of an expense and a bill.
  assertStringIncludes(textOf(mine), "Paid by you · shares: you €23.40, ben@example.com €23.40");
  assertStringIncludes(textOf(his), "Paid by anna@example.com · shares: anna@example.com €23.40, you €23.40");
  const shared = { between: ["anna", "ben"], shares: [2, 1] };
  await books.run("add_bill", { name: "Phone", amount: "30", first_due: "2026-11-25", paid_by: "me", shared });
  const split = "split by shares between";
  assertStringIncludes(textOf(await books.page()), `You pay, ${split} you (2) and ben@example.com (1)`);
  assertStringIncludes(
    textOf(await books.page("", ben)),
    `anna@example.com pays, ${split} anna@example.com (2) and you (1)`,
  );
  assertFalse(hers.includes("settle up"), "who only reads settles nothing");
  await books.run("settle_up", {}, ben);
  assertFalse((await books.page()).includes("Shared costs"));
});

accountTest(
  "read-only books name the reason and the person who can change it, without buttons",
  async (pages, database) => {
    const { run, page, join, organizationId } = await house(pages, database);
    const viewer = await join("vera@example.com", "viewer");
    const member = await join("mo@example.com", "member");
    await run("add_bill", rent);
    const set = (change: string) =>
      database.query(`update identity.organizations set ${change} where id = $1`, [organizationId]);
    const shown = async (who?: Person) => {
      const html = await page("", who);
      return { text: textOf(html), presses: pressOf(html).length };
    };
    assertEquals([(await shown()).presses, (await shown(viewer)).presses], [1, 0]);
    assertFalse((await shown(viewer)).text.includes("assistant"), "a viewer can ask no assistant to change anything");

    await set("trial_ends_at = '2026-01-01', plan = 'free'");
    const [owner, other] = [await shown(), await shown(member)];
    assertStringIncludes(owner.text, "The plan of Garden Street doesn’t include adding or changing anything. Choose a");
    assertStringIncludes(other.text, "Its owner, anna@example.com , can choose another one.");
    assertFalse(/include adding/.test((await shown(viewer)).text), "nothing changes for who only reads");
    assertEquals([owner.presses, other.presses, owner.text.includes("ask your assistant")], [0, 0, false]);

    await set("plan = 'team', deletes_at = '2026-12-04T10:00:00Z'");
    for (const who of [undefined, member, viewer]) {
      const { text, presses } = await shown(who);
      assertStringIncludes(text, "Garden Street will be deleted on 4 December 2026 .");
      assertStringIncludes(text, who ? "Only its owner, anna@example.com , can stop that." : "Keep it after all");
      assertEquals([presses, text.includes("assistant")], [0, false]);
    }
    for (
      const path of [
        `/account/activity?organization=${organizationId}`,
        `/organizations/${organizationId}/members`,
        `/organizations/${organizationId}/approvals`,
        `/organizations/${organizationId}/export`,
      ]
    ) {
      const html = await (await member.browser.get(path)).text();
      if (!path.endsWith("export")) assertStringIncludes(textOf(html), "will be deleted on 4 December 2026", path);
      assertFalse(/value="invite"|>Undo</.test(html), path);
    }
  },
);
