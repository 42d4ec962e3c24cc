/**
 * Checks promises to people and other services: mails are sent once, proposals decided once, payments applied, files
 * published.
 */
import type { SqlDatabase } from "../../../local/database/sql.ts";
import type { PaymentProvider } from "../actors/payments.ts";
import type { Scheduler } from "../actors/scheduler.ts";
import type { Visitors } from "../actors/visitor.ts";
import type { Proposals } from "../model/proposals.ts";
import { fixtureAmount } from "../../../local/fixtures/providers/app.ts";
import { minorOf } from "../model/books.ts";
import type { Outside } from "../world/outside.ts";
import { CREDENTIAL, PROVIDER } from "../world/seed.ts";
import type { World } from "../world/world.ts";

/** The number of delivered mails that name each due bill. */
export function remindersIn({ delivered }: Outside): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of delivered) {
    // The bill's table row, because the surrounding sentences may name the bill as well.
    for (const [, name] of text.matchAll(/^ {2}(Wave \d+-\d+-\d+) /gm)) counts.set(name!, (counts.get(name!) ?? 0) + 1);
  }
  return counts;
}

export function checkMails(outside: Outside, { due }: Scheduler, { complete }: { complete: boolean }): string[] {
  const counts = remindersIn(outside);
  const twice = [...counts].filter(([, count]) => count > 1);
  const never = complete ? due.filter((name) => !counts.has(name)) : [];
  return [
    ...twice.length > 0 ? [`${twice.length} reminders were mailed twice, such as ${twice[0]}`] : [],
    ...never.length > 0 ? [`${never.length} of ${due.length} reminders were never mailed, such as ${never[0]}`] : [],
  ];
}

export async function checkProposals(admin: SqlDatabase, { all, doubted }: Proposals): Promise<string[]> {
  const rows = await admin.query<{ id: string; state: string; name: string; bills: number }>(
    `select p.id, p.state, p.arguments ->> 'name' as name, count(e.id)::int as bills
     from app.proposals as p left join app.expenses as e on e.organization_id = p.organization_id and e.kind = 'bill'
       and e.deleted_at is null and e.name = p.arguments ->> 'name'
     group by p.id, p.state`,
  );
  const stored = new Map(rows.map((row) => [row.id, row]));
  const problems: string[] = [];
  for (const proposal of all) {
    const row = stored.get(proposal.id);
    if (!row) problems.push(`proposal ${proposal.id} is lost`);
    else if (proposal.state !== "unknown" && row.state !== proposal.state) {
      problems.push(`proposal ${proposal.id} was answered ${proposal.state} and is ${row.state}`);
    } else if (proposal.state === "unknown") proposal.state = row.state as typeof proposal.state;
  }
  const known = new Set(all.map(({ id }) => id));
  for (const { id, state, name, bills } of rows) {
    if (bills !== (state === "approved" ? 1 : 0)) problems.push(`proposal ${id} is ${state} and has ${bills} bills`);
    if (!known.has(id) && !doubted.has(name)) problems.push(`proposal ${id} was made by nobody`);
  }
  return problems;
}

export async function checkPayments(admin: SqlDatabase, { paid }: PaymentProvider): Promise<string[]> {
  const rows = await admin.query<{ id: string; plan: string }>(
    "select id, plan from identity.organizations where id like 'org\\_cust%'",
  );
  const pro = new Set(rows.filter(({ plan }) => plan === "pro").map(({ id }) => Number(id.slice("org_cust".length))));
  const lost = [...paid].filter((customer) => !pro.has(customer));
  const twice = await admin.query<{ subscription_id: string }>(
    `select subscription_id from billing.payment_events where claimed_organization_id like 'org\\_cust%'
     group by subscription_id having count(*) > 1`,
  );
  return [
    ...lost.length > 0 ? [`${lost.length} customers paid and have no plan, such as ${lost[0]}`] : [],
    ...twice.map(({ subscription_id }) => `the event of ${subscription_id} was stored twice`),
  ];
}

/** Amounts that providers report: the past month, once for each link, with the provider's amount. */
export async function checkStatements({ admin }: World): Promise<string[]> {
  const rows = await admin.query<{ id: string; month: string; amount: number; count: number }>(
    `select l.id, to_char(s.period, 'YYYY-MM') as month, max(s.amount_minor)::int as amount, count(s.id)::int as count
     from app.provider_links as l left join app.provider_statements as s on s.link_id = l.id
     group by l.id, s.period`,
  );
  return rows.flatMap(({ id, month, amount, count }) => {
    if (count !== 1) return [`link ${id} has ${count} statements of ${month}`];
    const expected = minorOf(fixtureAmount(PROVIDER, { secret: CREDENTIAL, month }));
    return amount === expected ? [] : [`link ${id} has ${amount} for ${month} instead of ${expected}`];
  });
}

export async function checkVisitors(admin: SqlDatabase, { done }: Visitors): Promise<string[]> {
  const rows = await admin.query<{ name: string; count: number }>(
    "select name, count(*)::int from app.expenses where name like 'Visit %' group by name",
  );
  const counts = new Map(rows.map(({ name, count }) => [name, count]));
  return [...done.values()].flat().filter((name) => counts.get(name) !== 1).map((name) =>
    `row ${name} of a statement is there ${counts.get(name) ?? 0} times`
  );
}
