/** Compares the database with every client's own books: lost, changed, unknown, duplicated and half-written rows. */
import type { SqlDatabase } from "../../../local/database/sql.ts";
import type { Row } from "../model/books.ts";
import type { Client } from "../model/client.ts";

const EXPENSES = `
  select e.payee, e.name, p.amount_minor as minor, p.currency
  from app.expenses as e left join app.payments as p on p.expense_id = e.id and p.organization_id = e.organization_id
    and p.deleted_at is null
  where e.kind = 'one_off' and e.deleted_at is null and e.organization_id like 'org\\_load%'`;

const BILLS = `
  select e.payee, e.name, count(p.id)::int as payments, coalesce(sum(p.amount_minor), 0)::bigint as paid,
    count(distinct p.occurrence_id)::int as dates
  from app.expenses as e left join app.payments as p on p.expense_id = e.id and p.organization_id = e.organization_id
    and p.deleted_at is null
  where e.kind = 'bill' and e.deleted_at is null and e.organization_id like 'org\\_load%' group by e.id, e.payee, e.name`;

/** @returns the faults. Requires that nobody writes */
export async function checkBooks(admin: SqlDatabase, clients: readonly Client[]): Promise<string[]> {
  const rows = Map.groupBy(await admin.query<Row & { payee: string }>(EXPENSES), ({ payee }) => payee);
  const bills = Map.groupBy(await admin.query<BillRow>(BILLS), ({ payee }) => payee);
  const problems = clients.flatMap((client) =>
    [
      ...client.books.compare(rows.get(client.payee) ?? []),
      ...compareBills(client, bills.get(client.landlord) ?? []),
    ].map((told) => `${client.label}: ${told}`)
  );
  return await Promise.all(problems.map(async (problem) => {
    const name = /: (\w+ lunch \d+) /.exec(problem)?.[1];
    return name ? `${problem}; its changes: ${JSON.stringify(await admin.query(CHANGES, [name]))}` : problem;
  }));
}

/** All writes of an expense, to explain a difference. */
const CHANGES = `
  select c.created_at, c.tool, c.actor_id, c.id, c.undoes, i.before ->> 'deleted_at' as before, i.after ->> 'deleted_at' as after
  from app.change_items as i join app.change_sets as c on c.id = i.change_id
  where i.table_name = 'expenses' and $1 in (i.before ->> 'name', i.after ->> 'name') order by c.recorded_seq`;

interface BillRow {
  payee: string;
  name: string;
  payments: number;
  paid: number;
  dates: number;
}

function compareBills(client: Client, rows: readonly BillRow[]): string[] {
  const problems: string[] = [];
  const there = new Map(rows.map((row) => [row.name, row]));
  if (there.size < rows.length) problems.push("a bill is there twice");
  for (const bill of client.bills) {
    const row = there.get(bill.name);
    if (!row) {
      problems.push(`the bill ${bill.name} is lost`);
      continue;
    }
    if (row.dates < row.payments) problems.push(`a date of ${bill.name} was paid twice`);
    if (row.paid !== row.payments * bill.minor) problems.push(`${bill.name} was paid with ${row.paid}`);
    const most = bill.paid.length + (bill.isUnsure ? Infinity : 0);
    if (row.payments < bill.paid.length || row.payments > most) {
      problems.push(`${bill.name} was paid ${bill.paid.length} times and has ${row.payments} payments`);
    }
  }
  for (const { name } of rows) {
    const isKnown = client.possibleBills.has(name) || client.bills.some((bill) => bill.name === name);
    if (!isKnown) problems.push(`the bill ${name} was never added`);
  }
  return problems;
}
