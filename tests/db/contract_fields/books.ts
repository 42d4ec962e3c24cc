/** Books in which every field of every tool has an effect, and the comparable result of a call on them. */
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import type { Session } from "../../../local/database/sql.ts";
import { addRate, type Books } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

export const TODAY = "2026-11-20";

/** Ids of the records in the books, by name. */
export type Ids = Record<string, string>;

export async function fill(books: Books, database: TestDatabase): Promise<Ids> {
  for (const day of ["2026-09-01", "2026-10-01", "2026-11-01", "2026-11-18"]) {
    await addRate(database, "USD", day, "1.1");
  }
  const ids: Ids = {};
  ids.me = `${books.userId}@example.com`;
  ids.member = `${(await books.join()).userId}@example.com`;
  books.goTo("2026-09-20");
  for (
    const bill of [
      { name: "Rent", payee: "Landlord", amount: "900", first_due: "2026-10-01", category: "Housing" },
      { name: "Water", amount: "30", first_due: "2026-10-05", ends_on: "2027-12-31" },
      { name: "Power", amount_mode: "variable", first_due: "2026-11-05", category: "Utilities" },
      { name: "Trial", amount: "9", first_due: "2026-12-01", trial_ends_on: "2026-11-30" },
      { name: "Domain", amount: "9", currency: "USD", frequency: "yearly", first_due: "2026-11-20" },
      { name: "Gym", amount: "20", first_due: "2026-10-20", renews_on: "2027-01-10", notice_days: 30 },
    ]
  ) ids[bill.name] = (await books.ok("add_bill", bill)).bill.id;
  await database.query(
    `insert into app.provider_links (organization_id, expense_id, provider_key, provider_name, account_label, status)
     values ($1, $2, 'digitalocean', 'DigitalOcean', '…1234', 'active')`,
    [books.organizationId, ids.Power],
  );
  await database.query(
    `with made as (
       insert into app.accounts (organization_id, name, key, currency)
       values ($1, 'Giro', 'giro', 'EUR'), ($1, 'Visa', 'visa', 'EUR') returning id, name
     )
     insert into app.statement_lines (organization_id, account_id, booked_on, text, kind, direction, amount_minor, currency)
     select $1, m.id, d.day, 'Bakery', 'expense', 'out', 420, 'EUR'
     from made as m cross join (values (date '2026-11-10'), ('2026-11-15')) as d (day) where m.name = 'Giro'`,
    [books.organizationId],
  );
  for (const name of ["proposal", "other_proposal"]) {
    const [row] = await database.query<{ id: string }>(
      `insert into app.proposals (organization_id, actor_id, tool, arguments, proposed_on, reasons, approver, facts, effects, fingerprint, hash, expires_at)
       values ($1, $2, 'log_expenses', '{}', '2026-11-20', '[]', 'manager', '{}', '{}', 'a', 'a', '2027-01-01') returning id`,
      [books.organizationId, books.userId],
    );
    ids[name] = row!.id;
  }
  // A price that rose more than a month ago.
  const { bill: radio } = await books.ok("add_bill", {
    name: "Radio",
    amount: "3",
    frequency: "weekly",
    first_due: "2026-09-22",
  });
  await books.ok("mark_bill_paid", { bill_id: radio.id });
  await books.ok("update_bill", { bill_id: radio.id, set: { amount: "4" } });
  books.goTo("2026-10-06");
  await books.ok("mark_bill_paid", { bill_id: ids.Rent, due_on: "2026-10-01", paid_on: "2026-10-02" });
  books.goTo(TODAY);
  const { results } = await books.ok("log_expenses", {
    items: [
      {
        name: "Lunch",
        amount: "14.50",
        payee: "Café",
        date: "2026-11-19",
        category: "Food",
        tags: ["team"],
        note: "soup",
      },
      { name: "Taxi", amount: "30.00", date: "2026-11-12", category: "Transport", external_id: "receipt-0001" },
      { name: "Book", amount: "20.00", currency: "USD", date: "2026-10-15" },
      { name: "Lunch back", amount: "5.00", date: "2026-11-10", is_refund: true, category: "Food" },
      { name: "Tea", amount: "3.00", date: "2025-11-10", category: "Food" },
      { name: "Car", amount: "5000.00", date: "2025-10-10" },
    ],
  });
  for (const { name, id } of results) ids[name] = id;
  await books.ok("log_expenses", {
    items: ["Giro", "Visa"].map((name, i) => ({ name, amount: `${900 + i}`, kind: "balance", date: TODAY })),
  });
  const change = await books.call("log_expenses", { items: [{ name: "Newspaper", amount: "2.00", date: TODAY }] });
  await books.ok("log_expenses", { items: [{ name: "Pen", amount: "1.00", date: TODAY }] });
  const preview = async (name: string, category = "") =>
    (await books.ok(
      "import_expenses",
      parsed("import_expenses", {
        csv: `Date,Name,Amount,Category\n2026-11-01,${name},1.00,${category}`,
      }),
    )).preview.import_id;
  const document = async (name: string) =>
    (await books.ok("attach_document", {
      step: "keep",
      content: btoa(name),
      name,
      type: "application/pdf",
      facts: { kind: "other", format: "pdf", questions: [] },
    })).document.id;
  const [filed, invoice, receipt] = [await document("a.pdf"), await document("b.pdf"), await document("c.pdf")];
  await books.ok("attach_document", { document_id: filed, to: ids.Taxi });
  return {
    ...ids,
    invoice,
    receipt,
    change: change.change_id,
    import: await preview("Milk"),
    other_import: await preview("Bread"),
    hobby_import: await preview("Paint", "Hobby"),
    cursor: (await books.call("list_expenses", parsed("list_expenses", { limit: 2 }))).next_cursor,
    bills_cursor: (await books.call("list_bills", parsed("list_bills", { limit: 2 }))).next_cursor,
  };
}

/** A client's arguments, in the form that the connector passes to the database. */
export function parsed(name: string, args: Json): Json {
  const result = TOOLS.find(({ listed }) => listed.name === name)!.parse(args);
  if (!result.ok) {
    throw new Error(`The contract of ${name} refuses ${JSON.stringify(args)}: ${JSON.stringify(result.error)}`);
  }
  return result.value;
}

export async function run(session: Session, name: string, args: Json): Promise<Json> {
  const [row] = await session.query<{ result: Json }>("select app.run_tool($1, $2::text::jsonb, $3) as result", [
    name,
    JSON.stringify(parsed(name, args)),
    `${TODAY}T12:00:00Z`,
  ]);
  return row!.result;
}

const OF_EXPENSE = "(select lpad(e.recorded_seq::text, 9, '0') from app.expenses as e where e.id = t.expense_id)";
/**
 * Orders each table's rows independently of ids. Omits idempotency keys and pending confirmations, which store the
 * arguments even if no code reads them.
 */
const TABLES = {
  categories: "t.name",
  expenses: "lpad(t.recorded_seq::text, 9, '0')",
  expense_occurrences: `${OF_EXPENSE} || t.scheduled_on`,
  payments: "lpad(t.recorded_seq::text, 9, '0')",
  change_sets: "lpad(t.recorded_seq::text, 9, '0')",
  provider_links: `${OF_EXPENSE} || t.created_at`,
};

/**
 * An answer and the books after it, without values that differ between calls: new ids, entry numbers, cursor contents.
 */
export async function outcome(session: Session, answer: Json): Promise<string> {
  // Describes in the caller's own words how the file was parsed.
  delete answer.data?.preview?.mapping;
  // Cursors contain the identity of their list, even if the list reads none of its arguments.
  delete answer.page;
  delete answer.file;
  const rows = Object.entries(TABLES).map(([name, place]) =>
    `select '${name}' as name, ${place} as place, to_jsonb(t) - 'recorded_seq' as row from app.${name} as t`
  );
  const books = await session.query(
    `select t.name, t.row from (${rows.join(" union all ")}) as t order by t.name, t.place`,
  );
  const settings = await session.query("select to_jsonb(p) - 'updated_at' as row from identity.profiles as p");
  const text = JSON.stringify([
    answer,
    books,
    settings,
    await session.query("select base_currency from identity.organizations"),
  ]);
  const seen = new Map<string, string>();
  return text.replace(/"next_cursor":\s*"[^"]*"/, '"next_cursor":"…"').replace(
    /\b(acc|bal|exp|inc|pay|cat|chg|occ|bill|imp|lnk|spl|set)_[0-9a-z]{8,}|[0-9a-f]{8}-[0-9a-f-]{27}/g,
    (id) => seen.get(id) ?? (seen.set(id, `#${seen.size}`), seen.get(id)!),
  );
}
