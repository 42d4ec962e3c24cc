/** Exports from the database: rows by role, columns, paging, and totals equal to those of the tools. */
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import fc from "fast-check";
import { BOOKS, type Columns, type ColumnType, type Part, PARTS } from "../../shared/export/books.ts";
import type { BookPage } from "../../shared/export/books_archive.ts";
import { openTenants, type Tenant, type Tenants } from "../canary/tenants.ts";
import { leaksIn, NOW } from "../canary/tenants.ts";
import {
  addMember,
  addPerson,
  addRate,
  type Books,
  confirmed,
  type Json,
  openBooks,
  settleDay,
} from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";

const AT = "2026-11-20T12:00:00Z";

interface Asked {
  userId: string;
  organizationId: string;
  at?: string;
  period?: { from: string; to: string };
}

type Answer = { outcome: "ok"; page: BookPage } | { outcome: "refused" };

const readPage = (database: TestDatabase, part: string, asked: Asked, after: unknown = null) =>
  database.asService<Answer>("read_export", {
    user_id: asked.userId,
    organization_id: asked.organizationId,
    part,
    after,
    from_on: asked.period?.from ?? null,
    to_on: asked.period?.to ?? null,
    at: asked.at ?? AT,
  });

/** All rows of a part, and the number of pages. */
async function readAll(database: TestDatabase, part: Part, asked: Asked): Promise<{ rows: Json[]; pages: number }> {
  const rows: Json[] = [];
  let [after, pages] = [null as unknown, 0];
  do {
    const answer = await readPage(database, part, asked, after);
    if (answer.outcome !== "ok") throw new Error(`${part} is refused`);
    rows.push(...answer.page.rows);
    after = answer.page.next;
    pages++;
  } while (after !== null);
  return { rows, pages };
}

const everythingOf = async (database: TestDatabase, asked: Asked) =>
  Object.fromEntries(
    await Promise.all(PARTS.map(async (part) => [part, (await readAll(database, part, asked)).rows] as const)),
  ) as Record<Part, Json[]>;

const open = (database: TestDatabase, { userId, organizationId, at }: Asked, wanted: string | null = null) =>
  database.asService<Json>("open_export", {
    user_id: userId,
    organization_id: organizationId,
    wanted,
    at: at ?? AT,
  });

const IS: Record<ColumnType, (value: Json) => boolean> = {
  text: (value) => typeof value === "string",
  integer: Number.isSafeInteger,
  flag: (value) => typeof value === "boolean",
  day: (value) => /^\d{4}-\d\d-\d\d$/.test(value),
  instant: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)),
  decimal: (value) => typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value),
  texts: (value) => Array.isArray(value) && value.every(IS.text),
  integers: (value) => Array.isArray(value) && value.every(IS.integer),
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

/** The problems in a row. */
function faultsOf(part: Part, row: Json): string[] {
  const columns: Columns = BOOKS[part];
  return [
    ...Object.keys(row).filter((name) => !(name in columns)).map((name) => `${part}.${name} is no column`),
    ...Object.entries(columns).flatMap(([name, type]) => {
      const value = row[name];
      const isFine = value === null ? type.endsWith("?") : IS[type.replace("?", "") as ColumnType](value);
      return isFine ? [] : [`${part}.${name} is ${JSON.stringify(value)}, not ${type}`];
    }),
  ];
}

/** Records that the shared fixture lacks, for the first organization. */
async function addMore(database: TestDatabase, { organizationId, linkId }: Tenant): Promise<void> {
  await database.query(
    `insert into app.payments (organization_id, expense_id, direction, amount_minor, currency, paid_on, tax_minor, tax_percent, note)
     select organization_id, id, 'refund', 1234, 'USD', '2026-11-03', 34, 2.5, 'Said' from app.expenses where organization_id = $1 and kind = 'bill' and deleted_at is null limit 1`,
    [organizationId],
  );
  await database.query(
    `insert into app.provider_statements (organization_id, link_id, period, amount_minor, currency, payload_sha256, status, reason, fetched_at)
     values ($1, $2, '2026-10-01', 500, 'EUR', $3, 'needs_review', 'unusual', $4) on conflict do nothing`,
    [organizationId, linkId, "5ec4e7".repeat(11).slice(0, 64), NOW],
  );
}

const openBoth = async (database: TestDatabase): Promise<Tenants> => {
  await addRate(database, "USD", "2026-11-03", "1.1000");
  const tenants = await openTenants(database);
  await addMore(database, tenants.first);
  await addMore(database, tenants.second);
  return tenants;
};

Deno.test("an export has every kind of record, in exactly the documented columns", async () => {
  await using database = await openDatabase();
  const { first } = await openBoth(database);
  const all = await everythingOf(database, { userId: first.ownerId, organizationId: first.organizationId });
  assertEquals(PARTS.filter((part) => all[part].length === 0), [], "parts without a row are not tested");
  assertEquals(PARTS.flatMap((part) => all[part].flatMap((row) => faultsOf(part, row))), []);
  const refund = all.payments.find(({ kind }) => kind === "refund");
  assertObjectMatch(refund, {
    amount: "-12.34",
    tax: "-0.34",
    net: "-12.00",
    tax_percent: "2.5",
    currency: "USD",
    base_currency: "EUR",
    base_amount: "-11.22",
    note: "Said",
  });
  // 1234 / 1.1, rounded half away from zero.
  assertObjectMatch(all.exchange_rates, { 0: { from_currency: "USD", to_currency: "EUR", rate_on: "2026-11-03" } });
});

Deno.test("a budget carries over only from its current amount", async () => {
  await using database = await openDatabase();
  const books = await openBooks(database, { day: "2026-10-06" });
  const set = (amount: string) =>
    books.ok("update_settings", { budget: { action: "set", category: "Travel", amount, carry_over: true } });
  await set("400");
  await books.ok("log_expenses", { items: [{ name: "Train", amount: "450", category: "Travel" }] });
  books.goTo("2026-11-06");
  await set("500");
  const { rows } = await readAll(database, "budgets", books);
  assertEquals(rows.map(({ amount, starts_on, opening_amount }) => [amount, starts_on, opening_amount]), [
    ["500.00", "2026-11-01", "-50.00"],
  ]);
});

Deno.test("an export contains no other organization's data, secrets, hashes or deleted records", async () => {
  await using database = await openDatabase();
  const tenants = await openBoth(database);
  const { first, second } = tenants;
  await database.query(
    "update app.payments set deleted_at = now(), note = 'Gone-1' where id in (select id from app.payments where organization_id = $1 and direction = 'out' limit 1)",
    [first.organizationId],
  );
  await database.query(
    "insert into app.expenses (id, organization_id, kind, name, deleted_at) values (app.new_id('exp'), $1, 'one_off', 'Gone-2', now())",
    [first.organizationId],
  );
  await database.query("update app.accounts set key = 'fingerprint of ' || id");
  const asked = { userId: first.ownerId, organizationId: first.organizationId };
  const text = JSON.stringify(await everythingOf(database, asked));
  assertEquals(leaksIn(text, tenants), []);
  assert(!/Gone-[12]/.test(text));
  const secrets = await database.query<{ secret: string }>(
    `select encode(token_hash, 'hex') as secret from oauth.tokens
     union all select encode(token_hash, 'hex') from identity.calendar_feeds
     union all select key from app.accounts union all select payload_sha256 from app.provider_statements
     union all select sealed::text from (select to_jsonb(c) as sealed from app.provider_credentials as c) as s`,
  );
  assert(secrets.length > 5);
  assertEquals(secrets.filter(({ secret }) => text.includes(secret)), []);
  // Their own organization, and another one.
  for (const organizationId of [second.organizationId, "org_000000000fff"]) {
    for (const part of PARTS) {
      assertEquals(await readPage(database, part, { ...asked, organizationId }), { outcome: "refused" });
    }
    assertEquals(await open(database, { ...asked, organizationId }), { outcome: "unknown" });
  }
});

Deno.test("each page checks the role, but not the plan", async () => {
  await using database = await openDatabase();
  const { organizationId, userId: owner } = await openBooks(database, { day: "2026-11-20", plan: "free" });
  const people: Record<string, string> = { owner };
  for (const role of ["manager", "member", "viewer"]) {
    people[role] = await addPerson(database, "UTC");
    await addMember(database, organizationId, people[role], role);
  }
  const outcomes = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(people).map(async ([role, userId]) => {
          const asked = { userId, organizationId };
          return [
            role,
            `${(await open(database, asked)).outcome} ${(await readPage(database, "bills", asked)).outcome}`,
          ];
        }),
      ),
    );
  const expected = { owner: "ok ok", manager: "ok ok", member: "refused refused", viewer: "ok ok" };
  assertEquals(await outcomes(), expected);
  await database.query(
    "update identity.organizations set trial_ends_at = '2026-01-01', plan_status = 'canceled' where id = $1",
    [organizationId],
  );
  assertEquals(await outcomes(), expected, "after the plan has ended");
  await database.query("update auth.users set banned_until = '2030-01-01' where id = $1", [people.manager]);
  await database.query("delete from identity.memberships where user_id = $1", [people.viewer]);
  assertEquals(await outcomes(), { ...expected, manager: "unknown refused", viewer: "unknown refused" });
});

Deno.test("the audit trail records downloads, but not page views or rejected downloads", async () => {
  await using database = await openDatabase();
  const { organizationId, userId } = await openBooks(database, { day: "2026-11-20" });
  const member = await addPerson(database, "UTC");
  await addMember(database, organizationId, member, "member");
  await open(database, { userId, organizationId });
  await open(database, { userId: member, organizationId }, "everything");
  assertEquals((await open(database, { userId, organizationId }, "everything")).outcome, "ok");
  const trail = await database.query(
    "select actor_id, organization_id, event, detail from identity.audit_events where event = 'books.exported'",
  );
  assertEquals(trail, [{
    actor_id: userId,
    organization_id: organizationId,
    event: "books.exported",
    detail: { what: "everything" },
  }]);
});

Deno.test("an export omits rows that row-level security hides", async () => {
  await using database = await openDatabase();
  const books = await openBooks(database, { day: "2026-11-20" });
  const { organizationId } = books;
  await books.ok("log_expenses", {
    items: [{ name: "Hush salary", amount: "4000", category: "Payroll", payee: "Hushed" }, {
      name: "Tea",
      amount: "3",
      category: "Food",
    }],
    create_missing_categories: true,
  });
  await books.ok("add_bill", { name: "Hush bonus", amount: "900", first_due: "2026-11-25", category: "Payroll" });
  await database.query("update app.categories set is_private = true where name = 'Payroll'");
  // A restrictive policy, which applies in addition to the others.
  const hidden = "select c.id from app.categories as c";
  await database.exec(`
    create policy "Private categories are hidden" on app.categories as restrictive
      for select to authenticated using (not is_private or identity.may('books:private'));
    ${
    ["expenses", "payments", "budgets", "payee_rules"].map((table) =>
      `create policy "What is in them is hidden" on app.${table} as restrictive
         for select to authenticated using (category_id is null or category_id in (${hidden}));`
    ).join("\n")
  }
    create policy "Their changes are hidden" on app.change_sets as restrictive
      for select to authenticated using (facts::text !~ 'Hush|Payroll' or identity.may('books:private'));`);
  await books.ok("update_settings", { budget: { action: "set", category: "Payroll", amount: "5000" } });
  const viewer = await addPerson(database, "UTC");
  await addMember(database, organizationId, viewer, "viewer");
  const seen = async (userId: string) => JSON.stringify(await everythingOf(database, { userId, organizationId }));
  const [owners, viewers] = [await seen(books.userId), await seen(viewer)];
  assert(
    owners.includes("Payroll") && owners.includes("Hush salary") && owners.includes("Hush bonus") &&
      owners.includes("5000.00"),
  );
  assert(!/Payroll|Hush|4000\.00|5000\.00|900\.00/.test(viewers), viewers);
  assert(viewers.includes("Tea"));
  await database.query("update identity.memberships set sees_private = true where user_id = $1", [viewer]);
  assert((await seen(viewer)).includes("Hush salary"), "opened to them by the owner");
});

Deno.test("pages contain every row once, even with many on one day", async () => {
  await using database = await openDatabase();
  const { organizationId, userId } = await openBooks(database, { day: "2026-11-20" });
  const COUNT = 2300;
  await database.query(
    `insert into app.expenses (id, organization_id, kind, name)
     select app.new_id('exp'), $1, 'one_off', 'Lunch ' || n from generate_series(1, $2::int) as n`,
    [organizationId, COUNT],
  );
  await database.query(
    `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
     select organization_id, id, 150, 'EUR', '2026-11-01'::date + (recorded_seq % 2)::int from app.expenses where organization_id = $1`,
    [organizationId],
  );
  await database.query(
    `insert into app.accounts (id, organization_id, name, key) values ('acc_00000000000a', $1, 'Giro', 'k')`,
    [organizationId],
  );
  await database.query(
    `insert into app.statement_lines (organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency, nth)
     select $1, 'acc_00000000000a', '2026-11-01', 'Line', 'expense', 'out', 150, 'EUR', n from generate_series(1, $2::int) as n`,
    [organizationId, COUNT],
  );
  await database.query(
    `insert into app.change_sets (organization_id, actor_id, tool) select $1, $2, 'log_expenses' from generate_series(1, $3::int)`,
    [organizationId, userId, COUNT],
  );
  await database.query(
    `with bill as (
       insert into app.expenses (id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on,
         weekend_rule, tracked_from, next_due, status)
       select app.new_id('bill'), $1, 'bill', 'Gym ' || n, 'fixed', 100, 'EUR', 'daily', 1, '2020-01-01', 'none', '2020-01-01', '2026-11-20', 'active'
       from generate_series(1, 2) as n
       returning id, organization_id
     )
     insert into app.expense_occurrences (expense_id, organization_id, scheduled_on, due_on, expected_minor, currency, status, closed_at)
     select id, organization_id, day, day, 100, 'EUR', 'skipped', now()
     from bill cross join lateral (select '2020-01-01'::date + n as day from generate_series(1, $2::int) as n) as d`,
    [organizationId, COUNT / 2],
  );
  for (const part of ["expenses", "payments", "statement_lines", "changes", "occurrences"] as const) {
    const { rows, pages } = await readAll(database, part, { userId, organizationId });
    assertEquals([rows.length, new Set(rows.map(({ id }) => id)).size, pages], [COUNT, COUNT, 3], part);
  }
  const period = { from: "2026-11-02", to: "2026-11-02" };
  const { rows } = await readAll(database, "payments", { userId, organizationId, period });
  assertEquals([new Set(rows.map(({ date }) => date)), rows.length], [new Set(["2026-11-02"]), COUNT / 2]);
});

// Sums in the tools' form.

const CATEGORIES = ["Food", "Travel", "Home", undefined];
const CURRENCIES = ["EUR", "USD", "JPY", "CHF"];
const DAYS = ["2026-08-31", "2026-09-01", "2026-09-30", "2026-10-15", "2026-11-01", "2026-11-19"];

const someItem = fc.record({
  minor: fc.integer({ min: 2, max: 900_000 }),
  currency: fc.constantFrom(...CURRENCIES),
  category: fc.constantFrom(...CATEGORIES),
  date: fc.constantFrom(...DAYS),
  kind: fc.constantFrom("plain", "plain", "refund", "tax", "reimbursed", "split", "charged"),
});

const decimal = (minor: number, currency: string) => currency === "JPY" ? String(minor) : (minor / 100).toFixed(2);

function itemOf({ minor, currency, category, date, kind }: Json, name: string): Json {
  const half = Math.floor(minor / 2);
  return {
    ...{ name, amount: decimal(minor, currency), currency, date, ...(category && kind !== "split" && { category }) },
    ...(kind === "refund" && { is_refund: true }),
    ...(kind === "tax" && { tax: decimal(Math.floor(minor / 5), currency) }),
    ...(kind === "reimbursed" && { reimbursement: "open", reimbursed_by: "Work" }),
    ...(kind === "charged" && currency !== "EUR" &&
      { charged: { amount: decimal(minor + 7, "EUR"), currency: "EUR" } }),
    ...(kind === "split" && {
      split: [{ amount: decimal(half, currency), category: "Food" }, {
        amount: decimal(minor - half, currency),
        category: "Home",
      }],
    }),
  };
}

/** Converts a decimal in euros to cents. */
const cents = (amount: string) => BigInt(amount.replace(".", ""));

/** Totals of the files, by month and category. */
function sumsOf(payments: Json[]): Record<string, string> {
  const sums: Record<string, bigint> = {};
  for (const { date, category, base_amount } of payments) {
    if (base_amount === null) continue;
    const key = `${date.slice(0, 7)} ${category ?? "Uncategorized"}`;
    sums[key] = (sums[key] ?? 0n) + cents(base_amount);
  }
  return toText(sums);
}

const toText = (sums: Record<string, bigint>) =>
  Object.fromEntries(Object.entries(sums).map(([key, sum]) => [key, String(sum)]).toSorted());

async function toolSumsOf(books: Books, filter: Json = {}): Promise<Record<string, string>> {
  const { rows } = await books.ok("summarize_spending", {
    ...{ from: "2026-08-01", to: "2026-11-30", group_by: ["month", "category"], top: 100 },
    ...filter,
  });
  return toText(Object.fromEntries(rows.map(({ group, amount }: Json) => [group.join(" "), cents(amount)])));
}

Deno.test("exported payments add up to summarize_spending, by month and category", async () => {
  await using database = await openDatabase();
  for (const day of DAYS) {
    // Without a rate for the franc, neither sum contains the unvalued payments.
    await addRate(database, "USD", day, "1.0873");
    await addRate(database, "JPY", day, "163.37");
    await settleDay(database, day);
  }
  const samples = fc.sample(fc.array(someItem, { minLength: 60, maxLength: 60 }), { numRuns: 3, seed: 20261123 });
  for (const [run, items] of samples.entries()) {
    const books = await openBooks(database, { day: "2026-11-20" });
    for (let from = 0; from < items.length; from += 20) {
      await books.ok("log_expenses", {
        items: items.slice(from, from + 20).map((item, index) => itemOf(item, `Thing ${run} ${from + index}`)),
        on_duplicate: "allow",
        create_missing_categories: true,
      });
    }
    // A paid bill with a share of a third, and a deleted bill.
    const added = await books.ok("add_bill", {
      ...{ name: "Rent", amount: "900", first_due: "2026-11-01", category: "Home", share_percent: 33 },
    });
    await books.ok("mark_bill_paid", { bill_id: added.bill.id, due_on: "2026-11-01", paid_on: "2026-11-05" });
    const { rows: [gone] } = await books.ok("list_expenses", { limit: 1 });
    await books.ok("delete_records", await confirmed(books, [gone.id]));
    const asked = { userId: books.userId, organizationId: books.organizationId };
    const { rows } = await readAll(database, "payments", asked);
    const sums = sumsOf(rows);
    assert(Object.keys(sums).length > 10 && rows.some(({ base_amount }) => base_amount === null));
    assertEquals(sums, await toolSumsOf(books));
    for (const currency of CURRENCIES) {
      const own = rows.filter((row) => row.currency === currency).map((row) => ({ ...row, base_amount: row.amount }));
      assertEquals(sumsOf(own), await toolSumsOf(books, { currency, in_currency: currency }), currency);
    }
    const taxed = await books.call("list_expenses", { from: "2026-08-01", to: "2026-11-30", limit: 1 });
    const taxes: Record<string, bigint> = {};
    for (const { tax, net, amount, currency } of rows) {
      if (tax === null) continue;
      taxes[currency] = (taxes[currency] ?? 0n) + cents(tax);
      assertEquals(cents(net) + cents(tax), cents(amount));
    }
    assertEquals(
      toText(taxes),
      toText(Object.fromEntries(
        Object.entries<Json>(taxed.data.tax_by_currency).map(([currency, { amount }]) => [currency, cents(amount)]),
      )),
    );
    const open = rows.filter(({ reimbursement }) => reimbursement === "open").length;
    assertEquals((await books.call("list_expenses", { reimbursement: "open", limit: 1 })).total_count, open);
  }
});
