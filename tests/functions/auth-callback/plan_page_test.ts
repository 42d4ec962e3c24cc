/** The page of a plan: the next step, payment links, the members' view, and a service without plans. */
import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { switchPlans } from "../../../local/plans/switch_plans.ts";
import type { Config } from "../../../shared/config.ts";
import { accountTest, newPerson, onboarded } from "./account_harness.ts";
import type { Browser } from "./harness.ts";

const SOLD: Partial<Config> = {
  checkoutUrl: "https://pay.example/checkout?plan={plan}&organization_id={organization_id}",
  invoicesUrl: "https://pay.example/invoices/{organization_id}",
  cancelUrl: "https://pay.example/cancel?o={organization_id}",
  proPrice: "€4 a month",
  teamPrice: "€9 a month",
};

async function show(browser: Browser, organizationId: string) {
  const response = await browser.get(`/organizations/${organizationId}/plan`);
  return { status: response.status, location: response.headers.get("location"), page: await response.text() };
}

accountTest(
  "a trial has a next step before and after its end",
  async (pages, database) => {
    Object.assign(pages.config, SOLD);
    const { browser, organizationId } = await onboarded(pages, database);
    const running = await show(browser, organizationId);
    assertStringIncludes(running.page, "Your trial ends on 4. Dezember 2026".replace("4. Dezember", "4 December"));
    assertStringIncludes(
      running.page,
      `href="https://pay.example/checkout?plan=team&amp;organization_id=${organizationId}"`,
    );
    assertStringIncludes(
      running.page,
      `href="https://pay.example/checkout?plan=pro&amp;organization_id=${organizationId}"`,
    );
    for (const price of ["€4 a month", "€9 a month"]) assertStringIncludes(running.page, price);
    assertStringIncludes(running.page, `href="https://pay.example/invoices/${organizationId}"`);
    // Without a paid plan there is nothing to cancel.
    assertNotMatch(running.page, /pay\.example\/cancel/);

    await database.query("update identity.organizations set trial_ends_at = '2026-11-19T00:00:00Z'");
    const ended = await show(browser, organizationId);
    assertStringIncludes(ended.page, "Your trial has ended. Choose a plan");
    assertStringIncludes(ended.page, "Nothing is deleted");
    assertStringIncludes(await (await browser.get("/account")).text(), "Choose a plan</a>");

    await database.query("update identity.organizations set plan = 'team'");
    const paid = await show(browser, organizationId);
    assertNotMatch(paid.page, /Your trial has ended/);
    assertStringIncludes(paid.page, `href="https://pay.example/cancel?o=${organizationId}"`);
  },
);

accountTest(
  "without links the page names a contact; a pricing page alone is enough to buy",
  async (pages, database) => {
    const { browser, organizationId } = await onboarded(pages, database);
    assertStringIncludes((await show(browser, organizationId)).page, "ask the operator of this service");
    Object.assign(pages.config, { supportUrl: "https://help.example/" });
    assertStringIncludes((await show(browser, organizationId)).page, '<a href="https://help.example/">contact us</a>');
    Object.assign(pages.config, { pricingUrl: "https://pay.example/plans?from=account" });
    assertStringIncludes(
      (await show(browser, organizationId)).page,
      `href="https://pay.example/plans?from=account&amp;organization_id=${organizationId}"`,
    );
  },
);

accountTest(
  "members see the owner's name and no payment links; strangers get 404",
  async (pages, database) => {
    Object.assign(pages.config, SOLD);
    const { organizationId } = await onboarded(pages, database);
    const noor = await onboarded(pages, database, "noor@example.com");
    assertEquals((await show(noor.browser, organizationId)).status, 404);
    for (const role of ["manager", "member", "viewer"]) {
      await database.query(
        `insert into identity.memberships (organization_id, user_id, role) values ($1, $2, $3)
       on conflict (organization_id, user_id) do update set role = excluded.role`,
        [organizationId, noor.id, role],
      );
      const { page } = await show(noor.browser, organizationId);
      assertStringIncludes(page.replaceAll(/<[^>]+>/g, ""), "Only the owner, mira@example.com, can change the plan.");
      assertNotMatch(page, /pay\.example/);
    }
    assertEquals(
      (await show(pages.browser(), organizationId)).location,
      `/login?next=%2Forganizations%2F${organizationId}%2Fplan`,
    );
    const { browser } = await newPerson(pages, database, "new@example.com");
    assertEquals((await show(browser, organizationId)).status, 303);
  },
);

accountTest("with plans off no page mentions them", async (pages, database) => {
  Object.assign(pages.config, SOLD);
  const { browser, organizationId } = await onboarded(pages, database);
  await database.query("update identity.organizations set trial_ends_at = '2026-11-19T00:00:00Z'");
  // A request cannot turn them off.
  for (const query of ["plans=off", "plans_enabled=false"]) {
    assertEquals((await browser.get(`/account?${query}`)).status, 200);
  }
  const page = await (await browser.get("/account")).text();
  const form_token = /name="form_token" value="([^"]+)"/.exec(page)![1]!;
  for (const action of ["plans", "plan"]) {
    const hostile = { form_token, action, plans_enabled: "false", plan: "team", organization_id: organizationId };
    assertEquals((await browser.post("/account", hostile)).status, 400);
  }
  assertStringIncludes(await (await browser.get("/account")).text(), "Not included");

  await switchPlans(database, "off");
  const account = (await (await browser.get("/account")).text()).replaceAll(/<(style|script).*?<\/\1>/gs, "");
  assertNotMatch(account.replaceAll(/<[^>]+>/g, " "), /\bplans?\b|trial/i);
  assertEquals((await show(browser, organizationId)).location, "/account");
  await switchPlans(database, "on");
});
