/** The large organization of the benchmark and the query plan tests, and its most important reads. */
import type { Session, SqlDatabase } from "../local/database/sql.ts";

/** The person who reads; ids match large_organization.sql. */
export const LARGE = { userId: "00000000-0000-4000-8000-0000000000ff", organizationId: "org_00000000large" };
export const TODAY = "2026-11-20";

export const HOT_READS: [tool: string, args: Record<string, unknown>][] = [
  ["list_bills", {}],
  ["list_bills", { due_within_days: 7 }],
  ["list_expenses", { from: "2026-10-01", to: "2026-10-31" }],
  ["summarize_spending", { period: "last_month" }],
];

/**
 * @param database connected as the owner of the tables; it has every migration and no rows. @param size.today the last
 * day of the books.
 */
export async function buildLargeOrganization(
  database: SqlDatabase,
  { payments, bills, months = 60, today = TODAY }: { payments: number; bills: number; months?: number; today?: string },
): Promise<void> {
  const source = await Deno.readTextFile(new URL("large_organization.sql", import.meta.url));
  await database.exec(
    source.replaceAll(":today", `date '${today}'`).replaceAll(/:payments(?=[ )])/g, `${payments}`)
      .replaceAll(/:bills(?=[ )])/g, `${bills}`).replaceAll(/:months(?=[ )])/g, `${months}`)
      .replaceAll(/:days(?=[ )])/g, `${Math.floor(months * 30.44)}`),
  );
  for (const table of ["expenses", "expense_occurrences", "payments", "categories", "fx_rates"]) {
    await database.exec(`vacuum analyze app.${table}`);
  }
}

/** Calls a tool as the connector does, and returns its envelope. */
export const readAs = (database: SqlDatabase, who: typeof LARGE, tool: string, args: Record<string, unknown>) =>
  database.transaction((session) => readWithin(session, who, tool, args));

/** The same, within the caller's transaction. */
export async function readWithin(
  session: Session,
  { userId, organizationId }: typeof LARGE,
  tool: string,
  args: Record<string, unknown>,
): Promise<{ ok: boolean }> {
  const claims = JSON.stringify({ sub: userId, role: "authenticated", organization_id: organizationId });
  const [row] = await session.query<{ result: { ok: boolean } }>(
    "select app.run_tool($2, $3::text::jsonb, $4) as result from (select set_config('request.jwt.claims', $1, true)) as claimed",
    [claims, tool, JSON.stringify(args), `${TODAY}T12:00:00Z`],
  );
  return row!.result;
}
