/** A payment takes effect at the very next request, because no earlier response is cached. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { deliver, PLANS } from "../_support/billing.ts";
import { openDatabase } from "../_support/database.ts";
import { newMember, NOW } from "./connector_harness.ts";

Deno.test("the connector opens and closes with the events of the payment provider", async () => {
  await using database = await openDatabase();
  await database.query("insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'pro')", [PLANS.pro]);
  const member = await newMember(database, {});
  const isServed = async () => !(await member.call("list_expenses")).text.includes("feature_not_in_plan");
  let seconds = 0;
  const say = (type: string, at = new Date(NOW.getTime() + ++seconds * 1000)) =>
    deliver(database, `subscription.${type}`, { organizationId: member.organizationId, at });
  const week = 7 * 24 * 3600_000;

  await say("cancelled");
  assertEquals(await isServed(), true, "on trial, and nothing was ever paid for");
  await say("resumed");
  await say("cancelled");
  assertEquals(await isServed(), true, "still on trial");
  await database.query("update identity.organizations set trial_ends_at = $1", [NOW.toISOString()]);
  assertEquals(await isServed(), false);
  await say("resumed");
  assertEquals(await isServed(), true);
  await say("completed");
  assertEquals(await isServed(), false);
  await say("pending", new Date(NOW.getTime() + week));
  assertEquals(await isServed(), true, "in the grace period");
});

Deno.test("the connector closes a week after the first payment that failed", async () => {
  await using database = await openDatabase();
  await database.query("insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'pro')", [PLANS.pro]);
  const member = await newMember(database, {});
  await database.query("update identity.organizations set trial_ends_at = null");
  const about = { organizationId: member.organizationId };
  const daysAgo = (days: number) => new Date(NOW.getTime() - days * 24 * 3600_000);
  await deliver(database, "subscription.pending", { ...about, at: daysAgo(6) });
  assert((await member.call("list_expenses")).envelope.ok);
  await deliver(database, "subscription.pending", { ...about, at: daysAgo(7) });
  assertStringIncludes((await member.call("list_expenses")).text, "feature_not_in_plan");
  await deliver(database, "subscription.charged", { ...about, at: daysAgo(1) });
  assert((await member.call("list_expenses")).envelope.ok);
});
