/** Plans are off until the service sells them: everybody has every feature, and no request can turn plans on. */
import { assertEquals, assertRejects } from "@std/assert";
import { ARE_PLANS_UNDECIDED, SELL_PLANS, switchPlans } from "../../local/plans/switch_plans.ts";
import { addOrganization, deliver, ORGANIZATION, PLANS } from "../_support/billing.ts";
import { database, day, resetEachTime } from "./billing_database.ts";

resetEachTime();

const FEATURES = ["ai:connector", "bills:variable", "reminders:email"];
const OWNER = "00000000-0000-4000-8000-000000000001";

async function featuresAt(at: Date) {
  const rows = await database.query<{ feature: string }>(
    `select feature from unnest($1::text[]) as f (feature)
     where identity.organization_has_feature($2, f.feature, $3) order by 1`,
    [FEATURES, ORGANIZATION, at.toISOString()],
  );
  return rows.map(({ feature }) => feature);
}

Deno.test("a checkout turns plans on, unless the operator has decided", async () => {
  await addOrganization(database, { trialEndsAt: "2026-10-02T00:00:00Z" });
  const isUndecided = async () => (await database.query<{ answer: boolean }>(ARE_PLANS_UNDECIDED))[0]!.answer;
  await database.query("update billing.settings set plans_enabled = null");
  assertEquals([await isUndecided(), await featuresAt(day(3))], [true, FEATURES]);
  await database.exec(SELL_PLANS);
  assertEquals([await isUndecided(), await featuresAt(day(3))], [false, []]);
  await switchPlans(database, "off");
  await database.exec(SELL_PLANS);
  assertEquals([await isUndecided(), await featuresAt(day(3))], [false, FEATURES]);
  await switchPlans(database, "on");
});

Deno.test("with plans off, an organization has every feature, regardless of trial and payments", async () => {
  await addOrganization(database, { trialEndsAt: "2026-10-02T00:00:00Z" });
  assertEquals(await featuresAt(day(3)), []);
  assertEquals(await switchPlans(database, "off"), { changed: true });
  assertEquals(await switchPlans(database, "off"), { changed: false });
  assertEquals(await featuresAt(day(3)), FEATURES);
  assertEquals(await featuresAt(new Date("2126-01-01T00:00:00Z")), FEATURES);
  await deliver(database, "subscription.charged", { planId: PLANS.pro, at: day(4) });
  await deliver(database, "subscription.cancelled", { at: day(5) });
  assertEquals(await featuresAt(day(6)), FEATURES);

  assertEquals(await switchPlans(database, "on"), { changed: true });
  assertEquals(await featuresAt(day(6)), []);
});

Deno.test("no API role can switch plans or add a second settings row", async () => {
  await addOrganization(database, { trialEndsAt: null });
  const claims = { sub: OWNER, organization_id: ORGANIZATION, role: "authenticated" };
  const hostile = [
    "update billing.settings set plans_enabled = false",
    "insert into billing.settings (is_only, plans_enabled) values (true, false)",
    "delete from billing.settings",
    "truncate billing.settings",
  ];
  for (const role of ["anon", "authenticated", "service_role"]) {
    for (const attack of hostile) {
      await assertRejects(
        () =>
          database.transaction(async (session) => {
            await session.query("select set_config('request.jwt.claims', $1, true)", [JSON.stringify(claims)]);
            await session.exec(`set local role ${role}`);
            await session.exec(attack);
          }),
        Error,
        "permission denied",
        `${role}: ${attack}`,
      );
    }
  }
  await assertRejects(
    () => database.query("insert into billing.settings (is_only, plans_enabled) values (false, false)"),
    Error,
    "settings_one_row",
  );
  assertEquals(await featuresAt(day(1)), []);
});

Deno.test("repeated or concurrent onboarding starts no second trial", async () => {
  const onboard = (at: Date) =>
    database.asService<{ outcome: string }>("complete_onboarding", {
      user_id: OWNER,
      email: "owner@example.com",
      country: "DE",
      organization_name: "Household",
      timezone: "Europe/Berlin",
      base_currency: "EUR",
      reminder_email: "owner@example.com",
      at: at.toISOString(),
    });
  const trials = () =>
    database.query<{ trial: boolean }>(
      "select trial_ends_at is not null as trial from identity.organizations order by created_at",
    );
  assertEquals((await onboard(day(1))).outcome, "created");
  assertEquals((await onboard(day(2))).outcome, "already");
  assertEquals(await trials(), [{ trial: true }]);

  // The trial remains used even after the organization and the country are deleted.
  await database.query("delete from identity.organizations");
  await database.query("update identity.profiles set country = null");
  assertEquals((await onboard(day(3))).outcome, "created");
  assertEquals(await trials(), [{ trial: false }]);
});
