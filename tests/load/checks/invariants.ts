/** Invariants of every database: each query finds violating rows. */
import type { SqlDatabase } from "../../../local/database/sql.ts";

const CONTRADICTIONS: Record<string, string> = {
  "an expense without a payment": `
    select e.id from app.expenses as e where e.kind = 'one_off' and e.deleted_at is null and not exists (
      select from app.payments as p where p.deleted_at is null and p.expense_id = e.id and p.organization_id = e.organization_id)`,
  "an occurrence whose paid amount is not the sum of its payments": `
    select o.id from app.expense_occurrences as o where o.paid_minor <> coalesce((
      select sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end) from app.payments as p
      where p.deleted_at is null and p.occurrence_id = o.id and p.organization_id = o.organization_id), 0)`,
  "a paid date without a payment": `
    select o.id from app.expense_occurrences as o where o.status = 'paid' and not exists (
      select from app.payments as p where p.deleted_at is null and p.occurrence_id = o.id and p.organization_id = o.organization_id)`,
  "a change that two changes undo": `
    select undoes from app.change_sets where undoes is not null group by undoes having count(*) > 1`,
  "a change marked as undone without an undo": `
    select c.id from app.change_sets as c where c.undone_by is not null and not exists (
      select from app.change_sets as u where u.id = c.undone_by and u.undoes = c.id)`,
  "an approved proposal without its change, or an open one with it": `
    select p.id from app.proposals as p
    where (p.state = 'approved')
      <> (p.id in (select c.proposal_id from app.change_sets as c where c.proposal_id is not null))`,
  "a grant with two refresh tokens that can be used": `
    select grant_id from oauth.tokens where kind = 'refresh' and rotated_at is null and revoked_at is null
    group by grant_id having count(*) > 1`,
  "a reminder that was sent twice": `
    select expense_id from jobs.reminder_log where sent_at is not null
    group by expense_id, due_on, snoozed_until having count(*) > 1`,
  "deadlocked transactions": `
    select deadlocks from pg_stat_database where datname = current_database() and deadlocks > 0`,
};

/** @returns the violations, by invariant */
export async function checkInvariants(admin: SqlDatabase): Promise<string[]> {
  const problems: string[] = [];
  for (const [what, query] of Object.entries(CONTRADICTIONS)) {
    const rows = await admin.query(query);
    if (rows.length > 0) problems.push(`${what}: ${rows.length}, such as ${JSON.stringify(rows[0])}`);
  }
  return problems;
}
