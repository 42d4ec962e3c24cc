/**
 * One organization with a private category that contains a canary in every field, and people of every role. Its public
 * records have small amounts and other words.
 */
import { type Books, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { importOf } from "../_support/import_args.ts";
import type { Role } from "../../shared/roles.ts";
import { NOW, WORD } from "./tenants.ts";

/** Content that an answer must not contain: the word, or an amount with one of these digit sequences. */
const CANARY = /zq7canary|84,?848,?4\d\d|848484/i;
/** No public amount is close to it, so the search also detects sums that include it. */
const LARGEST_PUBLIC = 100_000;
export const CATEGORY = `${WORD} Payroll`;
export const AMOUNT = "84848484.84";

export interface PrivateBooks {
  /** By person; `opened` is a viewer with access to private categories. */
  people: Record<Role | "opened", Books>;
  /** Ids of private records. */
  ids: {
    expense: string;
    income: string;
    bill: string;
    variableBill: string;
    document: string;
    change: string;
    opening: string;
    category: string;
  };
  accountId: string;
  /** All private ids; no answer may contain one. */
  allIds: string[];
  /** The private line of the statement, for importing it again. */
  statement: Record<string, unknown>;
}

const row = (line: number, name: string, amount: string, date: string) => ({ line, name, amount, date });

export async function openPrivateBooks(database: TestDatabase): Promise<PrivateBooks> {
  const owner = await openBooks(database, { day: NOW.slice(0, 10) });
  const { organizationId } = owner;
  const [manager, member, viewer, opened] = [
    await owner.join("manager"),
    await owner.join("member"),
    await owner.join("viewer"),
    await owner.join("viewer"),
  ];
  await database.query("update identity.memberships set sees_private = true where user_id = $1", [opened.userId]);
  await database.query("update identity.memberships set mails = 'all' where organization_id = $1", [organizationId]);

  await member.ok("log_expenses", { items: [{ name: "Lunch", amount: "10.00", date: "2026-11-19" }] });
  await owner.ok("add_bill", { name: "Phone", amount: "15.00", first_due: "2026-11-22" });
  const statement = importOf([
    row(2, `${WORD} WAGES`, AMOUNT, "2026-11-03"),
    row(3, "Tea shop", "3.00", "2026-11-04"),
  ]);
  const { preview } = await owner.ok("import_expenses", { ...statement, account: "Bank" });
  await owner.ok("import_expenses", preview.commit_with);

  await owner.ok("update_settings", { category: { action: "create", name: CATEGORY } });
  const logged = await owner.call("log_expenses", {
    items: [{
      name: `${WORD} salary`,
      payee: `${WORD} GmbH`,
      amount: AMOUNT,
      date: "2026-11-18",
      category: CATEGORY,
      tags: [WORD],
      note: `${WORD} note`,
      external_id: "payroll-11",
    }],
  });
  const expense = logged.data.results[0].id;
  const income = {
    name: `${WORD} earnings`,
    amount: AMOUNT,
    kind: "income",
    date: "2026-11-18",
    category: CATEGORY,
    note: `${WORD} note`,
    repeats: "monthly",
  };
  const earned = (await owner.ok("log_expenses", { items: [income] })).results[0].id;
  const wages = (await owner.ok("list_expenses", { query: "WAGES" })).rows[0].id;
  await owner.ok("update_expenses", { ids: [wages], set: { category: CATEGORY } });
  const add = (more: Record<string, unknown>) => owner.ok("add_bill", { category: CATEGORY, ...more });
  const bill = (await add({ name: `${WORD} pension`, amount: AMOUNT, first_due: "2026-11-21" })).bill.id;
  await owner.ok("mark_bill_paid", { bill_id: bill });
  await add({ name: `${WORD} health`, amount: AMOUNT, first_due: "2026-11-23", frequency: "yearly" });
  const variableBill = (await add({ name: `${WORD} tax`, amount_mode: "variable", first_due: "2026-11-24" })).bill.id;
  await owner.ok("update_settings", {
    budget: { action: "set", category: CATEGORY, amount: AMOUNT },
    payee_rules: [{ payee: `${WORD} GmbH`, category: CATEGORY }],
  });
  await database.query(
    `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
     values ($1, $2, 'openai', $3, 'needs_reauth')`,
    [organizationId, variableBill, WORD],
  );
  await database.query(
    `insert into app.provider_statements (organization_id, link_id, period, amount_minor, currency, payload_sha256, status, reason, fetched_at)
     select organization_id, id, '2026-10-01', 8484848484, 'EUR', repeat('0', 64), 'needs_review', 'unusual', $2
     from app.provider_links where expense_id = $1`,
    [variableBill, NOW],
  );
  const { document } = await owner.ok("attach_document", {
    step: "keep",
    content: btoa(WORD),
    name: `${WORD}.pdf`,
    type: "application/pdf",
    facts: { kind: "invoice", format: "pdf", payee: `${WORD} GmbH`, gross: AMOUNT, currency: "EUR", questions: [] },
  });
  await owner.ok("attach_document", { document_id: document.id, to: variableBill });
  // Calls that name private records without changing them.
  const { results: [{ id: twice }] } = await owner.ok("log_expenses", {
    items: [{ name: "Transfer", amount: "7.00", date: "2026-11-18" }],
  });
  await owner.ok("update_expenses", { ids: [twice], merge_into: expense });
  await owner.ok("update_settings", { category: { action: "create", name: "Old" } });
  await owner.ok("update_settings", { category: { action: "merge", name: "Old", into: CATEGORY } });
  await owner.ok("update_settings", {
    category: { action: "create", name: "Travels" },
    budget: { action: "set", category: CATEGORY, amount: AMOUNT },
  });
  await owner.ok("update_settings", {
    category: { action: "create", name: "Hobby" },
    payee_rules: [{ payee: `${WORD} GmbH`, category: CATEGORY }],
  });
  const opening = await owner.call("update_settings", { category: { action: "make_private", name: CATEGORY } });
  const [accountRow] = await database.query<{ id: string }>("select id from app.accounts where organization_id = $1", [
    organizationId,
  ]);
  // The balance that each person entered for the account.
  await database.query(
    `insert into app.balances (organization_id, account_id, true_on, amount_minor, currency, source, created_by)
     select organization_id, $2, $3, 100000, 'EUR', 'person', user_id
     from identity.memberships where organization_id = $1`,
    [organizationId, accountRow!.id, NOW.slice(0, 10)],
  );
  const kept = await database.query<{ id: string }>(
    `with private as (select id from app.expenses where organization_id = $1 and name like '${WORD}%')
     select id from private
     union all select id from app.payments where expense_id in (select id from private)
     union all select id from app.expense_occurrences where expense_id in (select id from private)
     union all select id from app.categories where organization_id = $1 and is_private
     union all select id from app.provider_links where organization_id = $1
     union all select id from app.provider_statements where organization_id = $1
     union all select id from app.budgets where organization_id = $1
     union all select id from app.incomes where organization_id = $1
     union all select change_id from app.change_items where organization_id = $1 and (before::text || after::text) like '%${WORD}%'`,
    [organizationId],
  );
  return {
    people: { owner, manager, member, viewer, opened },
    ids: {
      expense,
      income: earned,
      bill,
      variableBill,
      document: document.id,
      change: logged.change_id,
      opening: opening.change_id,
      category: kept[0]!.id,
    },
    accountId: accountRow!.id,
    allIds: kept.map(({ id }) => id),
    statement,
  };
}

/** @param sent the caller's input, which the answer may echo */
export function privateLeaks(text: string, { allIds }: Pick<PrivateBooks, "allIds">, sent = ""): string[] {
  const said = text.replaceAll(
    new RegExp(`${WORD}[ \\w]*|${AMOUNT}`, "gi"),
    (found) => sent.includes(found) ? "" : found,
  );
  const amounts = said.match(/\d[\d,]*\.\d{2}\b/g) ?? [];
  return [
    ...(CANARY.exec(said) ?? []),
    ...amounts.filter((amount) => Number(amount.replaceAll(",", "")) > LARGEST_PUBLIC),
    ...allIds.filter((id) => text.includes(id) && !sent.includes(id)),
  ];
}
