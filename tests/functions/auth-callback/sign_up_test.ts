/** `SIGN_UP=invited`: the right to an account and an organization. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { AT, household, later, membersOf } from "../../db/household.ts";
import { newPerson } from "./account_harness.ts";
import { createPages, formsOf, over } from "./harness.ts";

const database = await sharedDatabase();
const { invite } = membersOf(database);

const maySignUp = async (email: string, at = AT) =>
  (await database.asService<{ may: boolean }>("may_sign_up", { email, at })).may;

Deno.test("may_sign_up() admits everybody before the first organization, then members and people with an open invitation", async () => {
  await database.reset();
  assertEquals(await maySignUp("first@new.example"), true);
  const home = await household(database);
  const [member] = await database.query<{ email: string }>(
    "select email from identity.profiles where user_id = $1",
    [home.member],
  );
  assertEquals([await maySignUp("first@new.example"), await maySignUp(member!.email.toUpperCase())], [false, true]);

  await invite(home, home.anna.userId, { address: "ben@new.example", role: "member", token: "ben" });
  assertEquals([await maySignUp("Ben@New.example"), await maySignUp("anna@new.example")], [true, false]);
  assertEquals(await maySignUp("ben@new.example", later(8)), false);
  await database.query("update identity.invitations set withdrawn_at = $1 where address = 'ben@new.example'", [AT]);
  assertEquals(await maySignUp("ben@new.example"), false);

  await database.query("delete from identity.memberships where user_id = $1", [home.member]);
  assertEquals(await maySignUp(member!.email), false);
});

Deno.test("SIGN_UP=invited sends no mail to a stranger, hides that, and mails invited people", async () => {
  await database.reset();
  const home = await household(database);
  const pages = createPages(over(database), { signUp: "invited", rateLimits: "off" });
  const askForMail = async (email: string) => {
    const browser = pages.browser();
    const form = formsOf(await (await browser.get("/login")).text()).find(({ fields }) => "email" in fields)!;
    const response = await browser.post("/login", { ...form.fields, email });
    return [response.status, response.headers.get("location")];
  };
  const shown = await askForMail("stranger@new.example");
  assertEquals(pages.provider.mails, []);
  await invite(home, home.anna.userId, { address: "ben@new.example", role: "member", token: "ben" });
  assertEquals(await askForMail("ben@new.example"), shown);
  assertEquals(pages.provider.mails.map(({ email }) => email), ["ben@new.example"]);
});

Deno.test("SIGN_UP=invited refuses an organization to an account without an invitation, such as one of another service", async () => {
  await database.reset();
  const home = await household(database);
  const pages = createPages(over(database), { signUp: "invited", rateLimits: "off" });
  const stranger = await newPerson(pages, database, "stranger@new.example");
  for (const path of ["/onboarding", "/organizations/new"]) {
    const page = await stranger.browser.get(path);
    assertEquals(page.status, 403, path);
    assertStringIncludes(await page.text(), "You need an invitation to sign up here.");
  }
  await invite(home, home.anna.userId, { address: "stranger@new.example", role: "member", token: "ben" });
  const onboarding = await (await stranger.browser.get("/onboarding")).text();
  assertStringIncludes(onboarding, 'name="country"');
  await database.query("update identity.invitations set withdrawn_at = now()");
  const response = await stranger.browser.submit(onboarding, 'name="country"', { country: "DE" });
  assertEquals(response.status, 403);
  assertEquals((await database.query("select from identity.profiles where email like 'stranger%'")).length, 0);
});
