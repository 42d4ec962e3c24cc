/** The demo data loads on any day of the year and matches the README and the demo. */
import { assert, assertEquals } from "@std/assert";
import type { Session } from "../../local/database/sql.ts";
import { openDatabase, sharedDatabase } from "../_support/database.ts";
import { rolledBack } from "../_support/tap.ts";

const seed = await Deno.readTextFile(new URL("../../supabase/seed.sql", import.meta.url));
const NOW = "(now() at time zone 'Europe/Berlin')::date";
const HOUSEHOLD = "org_demo00000001";

const seedOn = (day: string) => seed.replace(NOW, `date '${day}'`);

async function listBills(session: Session, email: string, organization: string, day: string, args: object = {}) {
  const [row] = await session.query<{ result: Record<string, unknown> }>(
    `select set_config('request.jwt.claims', jsonb_build_object('sub', p.user_id, 'organization_id', $2::text)::text, true),
       app.run_tool('list_bills', $4::text::jsonb, $3) as result from identity.profiles as p where p.email = $1`,
    [email, organization, `${day}T10:00:00Z`, JSON.stringify(args)],
  );
  // deno-lint-ignore no-explicit-any
  return row!.result as any;
}

const database = await sharedDatabase();

Deno.test("the seed uses the current date", () => assert(seed.includes(NOW)));

for (const day of ["2026-11-20", "2027-01-31", "2027-03-01", "2028-02-29", "2026-12-30"]) {
  Deno.test(`the seed loads on ${day}`, () =>
    rolledBack(database, async (session) => {
      await session.exec(seedOn(day));
      const { data, total_count } = await listBills(session, "demo@example.com", HOUSEHOLD, day, {
        status: "all",
        limit: 100,
      });
      assertEquals(total_count, 25);
      const rent = data.bills.filter(({ name }: { name: string }) => name === "Rent");
      assertEquals(rent.length, 1);
      assertEquals([rent[0].next_due.slice(0, 7), rent[0].state, rent[0].overdue], [day.slice(0, 7), "due", []]);
      const overdue = data.bills.filter((bill: { overdue: unknown[] }) => bill.overdue.length > 0);
      assertEquals(overdue.map(({ name }: { name: string }) => name), ["Dentist invoice"]);
      const statuses = new Set(data.bills.map(({ status }: { status: string }) => status));
      assertEquals([...statuses].toSorted(), ["active", "cancelled", "ended", "paused"]);
    }));
}

Deno.test("the seed is deterministic, isolates people and leaves no helpers behind", async () => {
  await using database = await openDatabase();
  const dump = (session: Session) =>
    session.query(
      `select (select jsonb_agg(to_jsonb(e) - array['category_id', 'recorded_seq', 'updated_at'] order by id) from app.expenses as e) as expenses,
         (select jsonb_agg(jsonb_build_array(expense_id, amount_minor, paid_on, base_minor) order by expense_id, paid_on) from app.payments) as payments`,
    );
  const load = () =>
    rolledBack(database, async (session) => {
      await session.exec(seedOn("2026-11-20"));
      return await dump(session);
    });
  assertEquals(await load(), await load());

  await database.exec(seed);
  const [before] = await database.query("select count(*) as count, max(recorded_seq) as newest from app.payments");
  await database.exec(seed);
  assertEquals(await database.query("select count(*) as count, max(recorded_seq) as newest from app.payments"), [
    before!,
  ]);

  assertEquals(
    await database.query(
      `select u.email, i.provider, u.email_confirmed_at is not null as confirmed, p.country, m.organization_id, m.role, o.plan, o.trial_ends_at
       from auth.users as u join auth.identities as i on i.user_id = u.id join identity.profiles as p on p.user_id = u.id
       join identity.memberships as m on m.user_id = u.id join identity.organizations as o on o.id = m.organization_id order by u.email`,
    ),
    [
      { email: "demo@example.com", country: "DE", organization_id: HOUSEHOLD, role: "owner", plan: "team" },
      { email: "member@example.com", country: "ES", organization_id: HOUSEHOLD, role: "member", plan: "team" },
      { email: "other@example.com", country: "IN", organization_id: "org_demo00000002", role: "owner", plan: "pro" },
    ].map((person) => ({ ...person, provider: "email", confirmed: true, trial_ends_at: null })),
  );
  assertEquals(await database.query("select provider_plan_id, plan from billing.billing_plans order by 1"), [
    { provider_plan_id: "plan_demo_pro", plan: "pro" },
    { provider_plan_id: "plan_demo_team", plan: "team" },
  ]);
  const [counts] = await database.query<Record<string, number>>(
    `select (select count(*) from app.expenses where kind = 'one_off' and organization_id = $1) as expenses,
       (select count(distinct currency) from app.payments where organization_id = $1) as currencies,
       (select count(*) from app.payments where direction = 'refund') as refunds,
       (select count(*) from app.payments where base_minor is null) as unconverted,
       (select count(*) from app.change_sets) as changes,
       (select count(*) from app.payments where not is_final) as provisional,
       (select count(*) from app.fx_rates) + (select count(*) from app.fx_days) as rates,
       (select count(*) from (
         select from app.payments where expense_id = 'bill_demo00000001' group by date_trunc('month', paid_on) having count(*) > 1
       ) as m) as months_with_two_rents,
       (select count(*) from app.payments where expense_id = 'bill_demo00000001') as rents`,
    [HOUSEHOLD],
  );
  assert(counts!.expenses! > 500 && counts!.currencies! >= 7 && counts!.refunds! > 2, JSON.stringify(counts));
  const { unconverted, changes, provisional, rates, months_with_two_rents } = counts!;
  // The demo's invented rates must not value other books.
  assertEquals([unconverted, changes, provisional, rates, months_with_two_rents], [0, 0, 0, 0, 0]);
  assert(counts!.rents! > 12);
});
