/** The demo data: loads `supabase/seed.sql` once, and describes its users. */
import type { SqlDatabase } from "../database/sql.ts";
import type { Demo } from "./settings.ts";

const SEED = new URL("../../supabase/seed.sql", import.meta.url);

export const DEMO_EMAIL = "demo@example.com";
export const OTHER_EMAIL = "other@example.com";

/** Loads the demo data into a database without users; all or nothing. */
export async function loadDemo(database: SqlDatabase): Promise<void> {
  const sql = await Deno.readTextFile(SEED).catch(() => "");
  const [users] = await database.query<{ present: boolean }>("select exists (select from auth.users) as present");
  if (users!.present || !sql) return;
  await database.transaction((session) => session.exec(sql));
}

/** Undefined when the demo users are not in this database. */
export async function readDemo(database: SqlDatabase): Promise<Demo | undefined> {
  const organizations = await database.query<{ email: string; id: string }>(
    `select users.email, organizations.id from auth.users
     join identity.organizations on organizations.owner_id = users.id
     where users.email in ($1, $2)`,
    [DEMO_EMAIL, OTHER_EMAIL],
  );
  const plans = await database.query<{ plan: string; provider_plan_id: string }>(
    "select plan, min(provider_plan_id) as provider_plan_id from billing.billing_plans group by plan order by plan",
  );
  const idOf = (email: string) => organizations.find((organization) => organization.email === email)?.id;
  const [own, other] = [idOf(DEMO_EMAIL), idOf(OTHER_EMAIL)];
  if (!own || !other) return undefined;
  return {
    email: DEMO_EMAIL,
    other_email: OTHER_EMAIL,
    organization_id: own,
    other_organization_id: other,
    payment_plans: Object.fromEntries(plans.map(({ plan, provider_plan_id }) => [plan, provider_plan_id])),
  };
}
