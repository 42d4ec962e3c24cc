/** The features of plans, and the effects of failed payments and ended plans on features and provider links. */
import { assertEquals } from "@std/assert";
import { addOrganization, deliver, ORGANIZATION, PLANS } from "../_support/billing.ts";
import { count, database, day, resetEachTime, TRIAL_ENDS_AT } from "./billing_database.ts";

resetEachTime();

const has = async (feature: string, at: Date) => {
  const [row] = await database.query<{ has: boolean }>(
    "select identity.organization_has_feature($1, $2, $3) as has",
    [ORGANIZATION, feature, at.toISOString()],
  );
  return row!.has;
};

Deno.test("each plan includes all features of the previous one", async () => {
  const [row] = await database.query<{ free: string[] | null; missing: number }>(
    `select array_agg(f.feature) filter (where f.plan = 'free') as free,
       count(*) filter (where f.plan = 'pro' and not exists (
         select from billing.plan_features as t where t.plan = 'team' and t.feature = f.feature))::int as missing
     from billing.plan_features as f`,
  );
  assertEquals(row, { free: null, missing: 0 });
});

Deno.test("features change at once, and a past-due plan keeps them for 7 days", async () => {
  await addOrganization(database, { trialEndsAt: null });
  await deliver(database, "subscription.activated", { planId: PLANS.team, at: day(1) });
  assertEquals(await has("bills:variable", day(1)), true);
  await deliver(database, "subscription.charged", { planId: PLANS.pro, at: day(2) });
  assertEquals([await has("bills:variable", day(2)), await has("ai:connector", day(2))], [false, true]);
  await deliver(database, "subscription.pending", { at: day(10) });
  const graceEnds = day(17).getTime();
  assertEquals(await has("ai:connector", new Date(graceEnds - 1)), true);
  assertEquals(await has("ai:connector", new Date(graceEnds)), false);
  await deliver(database, "subscription.charged", { at: day(18) });
  assertEquals(await has("ai:connector", day(18)), true);
  await deliver(database, "subscription.expired", { at: day(19) });
  assertEquals(await has("ai:connector", day(19)), false);
});

Deno.test("cancellation pauses provider links and deletes nothing; paying again resumes them", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const statuses = ["pending", "active", "needs_reauth", "paused", "revoked"];
  for (const status of statuses) {
    const [bill] = await database.query<{ id: string }>(
      `insert into app.expenses (id, organization_id, kind, name) values (app.new_id('exp'), $1, 'one_off', $2) returning id`,
      [ORGANIZATION, status],
    );
    await database.query(
      `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
       values ($1, $2, 'generic', $3, $3)`,
      [ORGANIZATION, bill!.id, status],
    );
  }
  const links = async () =>
    Object.fromEntries(
      (await database.query<{ account_label: string; status: string }>(
        "select account_label, status from app.provider_links order by created_at, id",
      )).map(({ account_label, status }) => [account_label, status]),
    );
  const asMade = Object.fromEntries(statuses.map((status) => [status, status]));
  const held = { pending: "paused", active: "paused", needs_reauth: "paused", paused: "paused", revoked: "revoked" };

  await deliver(database, "subscription.charged", { at: day(1) });
  assertEquals(await links(), asMade);
  await deliver(database, "subscription.pending", { at: day(2) });
  assertEquals(await links(), asMade);
  for (
    const [ending, revival] of [["cancelled", "resumed"], ["completed", "pending"], ["expired", "charged"]] as const
  ) {
    const at = 3 + 2 * ["cancelled", "completed", "expired"].indexOf(ending);
    await deliver(database, `subscription.${ending}`, { at: day(at) });
    assertEquals(await links(), held);
    await deliver(database, `subscription.${revival}`, { at: day(at + 1) });
    assertEquals(await links(), asMade);
  }
  assertEquals(await count("app.expenses"), 5);

  // The end of another subscription does not remove the trial's features.
  await database.query("update identity.organizations set trial_ends_at = $1", [TRIAL_ENDS_AT]);
  await deliver(database, "subscription.cancelled", { at: day(9) });
  assertEquals(await links(), asMade);
});
