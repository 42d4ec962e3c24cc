/** Every field that a change or its undo can name has a readable label. */
import { assert, assertEquals } from "@std/assert";
import { fieldNames, fields } from "../../shared/words/en/fields.ts";
import { openBooks, readChange } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();
const open = () => openBooks(database, { day: "2026-10-06" });

/** Fields in the summaries of `update_expenses` and `update_bill` that are not columns. */
const SUMMED_UP = [
  ...["amount", "assignee", "category", "charged", "date", "my_share_percent", "reminder", "schedule", "shared", "tax"],
];

/** Columns that updates never change. */
const FIXED = [
  ...["id", "organization_id", "created_at", "recorded_seq"],
  // Columns of a document.
  ...["facts", "hash", "layout", "payee_key", "size", "type"],
];

Deno.test("each column that an undo can name has a label, and each label has a column", async () => {
  const books = await open();
  const columns = await database.query<{ name: string }>(
    `select distinct a.attname::text as name
     from pg_trigger as t
     join pg_class as c on c.oid = t.tgrelid
     join pg_attribute as a on a.attrelid = t.tgrelid and a.attnum > 0 and not a.attisdropped
     where t.tgfoid = 'app.capture_change'::regproc
       and a.attname <> all (app.derived_columns(c.relname) || $1::text[])
       and not (c.relname = 'payments' and a.attname ~ '^(base|fx)_')
     union
     select jsonb_object_keys(app.read_preferences($2) - 'id')`,
    [FIXED, books.organizationId],
  );
  assertEquals(
    Object.keys(fields).toSorted(),
    [...columns.map(({ name }) => name), ...SUMMED_UP].toSorted(),
    "Add or remove the name in shared/words/en/fields.ts.",
  );
});

Deno.test("an undo names fields by label, not by column", async () => {
  const books = await open();
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-11-05" });
  const set = { my_share_percent: 50, first_due: "2026-11-07", trial_ends_on: "2026-10-30", amount_mode: "estimated" };
  await books.ok("update_bill", { bill_id: bill.id, set });
  const { undone, reversed } = await books.ok("undo_change");
  assertEquals(undone.summary, "Changed Rent: fixed or variable amount, your share, schedule, end of the trial");
  assertEquals(reversed.map(({ what }: { what: string }) => what), [
    "Rent: fixed or variable amount, first date, your share, first tracked date, end of the trial changed back",
    "Rent due 2026-11-05 is open again",
  ]);

  await books.ok("update_settings", { base_currency: "USD", reminders: { default_days_before: 5 } });
  assertEquals((await books.ok("undo_change")).reversed.map(({ what }: { what: string }) => what), [
    "Settings: main currency, default reminder days changed back",
  ]);
});

Deno.test("every field that update_expenses and update_bill can change has a name", async () => {
  const books = await open();
  const { results: [{ id }] } = await books.ok("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", month_days: [5] });
  const shared = {
    name: "Other",
    amount: "15",
    currency: "USD",
    payee: "Bistro",
    category: "Taxes and fees",
    note: "x",
  };
  const changes = [
    await books.call("update_expenses", {
      ids: [id],
      set: {
        ...shared,
        charged: { amount: "13.20" },
        date: "2026-10-01",
        tags: ["work"],
        url: "https://shop.example/1",
        tax_percent: 19,
        reimbursed_by: "Client",
        reimbursed_on: "2026-10-02",
        split: [{ amount: "5", category: "Food" }, {}],
      },
    }),
    await books.call("update_bill", {
      bill_id: bill.id,
      set: {
        ...shared,
        tags: ["home"],
        amount_mode: "estimated",
        frequency: "yearly",
        first_due: "2026-11-05",
        autopay: true,
        remind_days_before: 5,
        trial_ends_on: "2026-10-30",
        renews_on: "2027-01-01",
        notice_days: 10,
        assignee: "me",
        my_share_percent: 50,
        shared: {},
      },
    }),
  ];
  const named = new Set<string>();
  for (const { ok, change_id, error } of changes) {
    assert(ok, JSON.stringify(error));
    const [row] = await database.query<{ fields: string[] }>(
      "select facts -> 'fields' as fields from app.change_sets where id = $1",
      [change_id],
    );
    for (const field of row!.fields) named.add(field);
    assertEquals((await readChange(database, change_id)).summary.includes("_"), false);
  }
  assertEquals([...named].filter((field) => !(field in fields)), [], "Name these in shared/words/en/fields.ts.");
  assertEquals(SUMMED_UP.filter((field) => !named.has(field)), [], "no change names it");
});

Deno.test("fieldNames() lists a name once and returns unknown fields unchanged", () => {
  assertEquals(fieldNames(["amount_minor", "expected_minor", "share_bp", "tax_rate"]), "amount, your share, tax rate");
});
