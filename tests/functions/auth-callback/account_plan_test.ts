/** The account page after payment events. */
import { assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { addOrganization, deliver, ORGANIZATION, PLANS, resetBilling } from "../../_support/billing.ts";
import { addMember } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { createPages, over, signIn } from "./harness.ts";

const database = await sharedDatabase();

Deno.test("GET /account shows plan, status, period end and the missing features", async () => {
  await resetBilling(database);
  await addOrganization(database, { trialEndsAt: null });
  const pages = createPages(over(database));
  const [owner] = await database.query<{ id: string }>("select owner_id as id from identity.organizations");
  pages.provider.users.set("owner@example.com", { id: owner!.id, email: "owner@example.com" });
  await database.query("update identity.profiles set country = 'DE'");
  await addMember(database, ORGANIZATION, owner!.id, "owner");
  await database.query(
    `insert into app.expenses (id, organization_id, kind, name, amount_mode, currency, frequency, every, anchor_on, weekend_rule, tracked_from, status)
     values ('bill_000000000001', $1, 'bill', 'Hosting', 'variable', 'EUR', 'monthly', 1, '2026-01-05', 'none', '2026-01-05', 'active')`,
    [ORGANIZATION],
  );
  await database.query(
    `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
     values ($1, 'bill_000000000001', 'generic', 'invoices', 'active')`,
    [ORGANIZATION],
  );
  const { browser } = await signIn(pages, "owner@example.com");
  const shown = async (day: number) => {
    pages.clock.now = new Date(Date.UTC(2026, 10, day));
    return (await (await browser.get("/account")).text()).replaceAll(/<[^>]+>/g, "");
  };
  const say = (type: string, day: number, planId = PLANS.team) =>
    deliver(database, `subscription.${type}`, { planId, at: new Date(Date.UTC(2026, 10, day)) });

  await say("charged", 1);
  const paid = await shown(2);
  assertStringIncludes(paid, "Team plan, paid until 2 December 2026");
  assertNotMatch(paid, /Not included/);

  await say("charged", 3, PLANS.pro);
  assertStringIncludes(await shown(3), "Not included: amounts from bill providers");

  await say("pending", 4);
  assertStringIncludes(await shown(5), "Team plan; a payment didn’t arrive, and the plan stops on 11 November 2026");
  const stopped = await shown(12);
  assertStringIncludes(stopped, "Free plan; the Team plan stopped on 11 November 2026");
  assertStringIncludes(
    stopped,
    "Not included: connecting AI assistants, amounts from bill providers, reminder emails",
  );

  await say("cancelled", 13);
  const ended = await shown(14);
  assertStringIncludes(ended, "Free plan; the subscription ended on 13 November 2026");
  assertStringIncludes(ended, "paused, needs the Team plan");

  await say("resumed", 15);
  assertStringIncludes(await shown(16), "invoices: working");
  await say("cancelled", 17);
  assertMatch(await shown(18), /No reminders are sent right now: .+ is on a plan without reminder emails\./);

  // A manually set plan has no payer and no end date.
  await database.query("update identity.organizations set plan = 'team', plan_status = 'active'");
  assertMatch(await shown(18), /Team plan(?!,|;)/);
  // A trial adds what the plan lacks and removes nothing.
  await database.query(
    "update identity.organizations set plan = 'free', plan_status = 'canceled', trial_ends_at = '2026-11-25T00:00:00Z'",
  );
  const onTrial = await shown(18);
  assertStringIncludes(
    onTrial,
    "Team plan, free to try until 25 November 2026; the subscription ended on 17 November 2026",
  );
  assertNotMatch(onTrial, /Not included/);
  await say("resumed", 19, PLANS.pro);
  assertStringIncludes(
    await shown(19),
    "Pro plan, paid until 20 December 2026. Until 25 November 2026 everything in the Team plan is free to try",
  );
});
