import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { addMember } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  answerOf,
  authorizationQuery,
  CALLBACK,
  consentOf,
  createHarness,
  createPerson,
  exchangeFields,
  type Fields,
  over,
  type Person,
  registerClient,
  SITE,
} from "./harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "consent@example.com", ["pro", "team", "free"]);
const [pro, team, free] = person.organizations as [string, string, string];
const stranger = await createPerson(database, "other@example.com", ["pro"]);

/** A new page, and a function that submits it. */
async function start(request: Fields = {}) {
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const page = await (await harness.get(authorizationQuery(clientId, request), person)).text();
  harness.calls.length = 0;
  const decide = (fields: Fields, visitor: Person | null = person, headers: Record<string, string> = {}) =>
    harness.decide(page, fields, visitor, headers);
  const allow = (fields: Fields = {}) => decide({ action: "approve", organization_id: pro, ...fields });
  return { harness, clientId, page, decide, allow };
}

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, "").replaceAll(/\s+/g, " ");

/** Asserts that the response names this reason and is not a redirect. */
async function assertPage(response: Response, status: number, words: string) {
  assertEquals([response.status, response.headers.get("location")], [status, null]);
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertStringIncludes(await response.text(), words);
}

Deno.test("Allow redirects the browser with code, state and issuer, in one database call", async () => {
  const { harness, allow } = await start();
  const response = await allow();
  assertEquals([response.status, harness.calls], [303, ["approve_consent"]]);
  assertEquals(response.headers.get("location")!.startsWith(`${CALLBACK}?`), true);
  const { code, ...rest } = answerOf(response);
  assertEquals([typeof code, rest], ["string", { state: "xyz", iss: SITE }]);
});

/** The consent page's wording for each tool. A new tool needs a line here, and words there. */
const TOOL_TEXTS: Record<string, string[]> = {
  get_context: ["see the members’ email addresses"],
  list_expenses: ["see, add, change and delete expenses, bills, documents and categories"],
  summarize_spending: ["see, add, change and delete expenses"],
  show_spending_chart: ["see, add, change and delete expenses"],
  list_bills: ["see, add, change and delete expenses, bills"],
  review_bills: ["see, add, change and delete expenses, bills"],
  forecast: ["see, add, change and delete expenses, bills"],
  reconcile: ["see, add, change and delete expenses"],
  log_expenses: ["add, change and delete expenses"],
  import_expenses: ["add, change and delete expenses"],
  update_expenses: ["change and delete expenses"],
  add_bill: ["add, change and delete expenses, bills"],
  update_bill: ["change and delete expenses, bills"],
  draft_cancellation: ["change and delete expenses, bills"],
  mark_bill_paid: ["change and delete expenses, bills"],
  list_documents: ["bills, documents and categories"],
  attach_document: ["bills, documents and categories"],
  settle_up: ["settle up shared costs"],
  sync_bill_amounts: ["update amounts from connected providers"],
  delete_records: ["delete expenses, bills"],
  undo_change: ["every change can be undone"],
  decide_proposal: ["Approve or reject other people’s proposals"],
  update_settings: ["categories", "main currency", "time zone", "reminder emails"],
};

Deno.test("the page lists everything that the connector's tools can do", async () => {
  const decides = (may: boolean) =>
    database.query("update identity.organizations set assistants_may_approve = $1", [may]);
  const approving = "Approve or reject other people’s proposals";
  assert(!textOf((await start()).page).includes(approving), "no assistant may unless the owner lets them");
  await decides(true);
  const { page } = await start();
  await decides(false);
  assertEquals(
    Object.keys(TOOL_TEXTS).toSorted(),
    TOOLS.map(({ listed }) => listed.name).toSorted(),
    "Add the page's words for the tool to TOOL_TEXTS, and to shared/words/en/pages/consent.tsx if they are new.",
  );
  const said = textOf(page).toLowerCase();
  for (const words of Object.values(TOOL_TEXTS).flat()) assertStringIncludes(said, words.toLowerCase());
});

Deno.test("a viewer's consent page shows read-only access and lists missing tools", async () => {
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const viewer = await createPerson(database, "viewer@example.com", []);
  await addMember(database, pro, viewer.id, "viewer");
  const page = await (await harness.get(authorizationQuery(clientId), viewer)).text();
  assertStringIncludes(textOf(page), "See and export expenses");
  assertStringIncludes(page, '<input type="hidden" name="access" value="read"/>');
  assertStringIncludes(textOf(page), "It can’t change anything");
  assert(!textOf(page).includes("See, add, change and delete"));
});

Deno.test("without a suitable plan the page links to the plan instead of disabling its button", async () => {
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const owner = await createPerson(database, "free@example.com", ["free"]);
  const show = async () => await (await harness.get(authorizationQuery(clientId), owner)).text();
  const page = await show();
  assertStringIncludes(page, "is on a plan without assistants");
  assertStringIncludes(page, `href="${SITE}/organizations/${owner.organizations[0]}/plan">Choose a plan</a>`);
  assert(!page.includes('value="approve"'));
  await database.query("update identity.organizations set trial_ends_at = '2020-01-01' where id = $1", [
    owner.organizations[0],
  ]);
  assertStringIncludes(await show(), "has ended. Choose a plan");
});

Deno.test("a person who owns no organization does not see what owners allow", async () => {
  const harness = createHarness(over(database));
  const clientId = await registerClient(harness);
  const member = await createPerson(database, "member@example.com", []);
  await addMember(database, pro, member.id, "member");
  const page = await (await harness.get(authorizationQuery(clientId), member)).text();
  assertStringIncludes(page, "You’re a member");
  assert(!page.includes("If you own it"));
});

Deno.test("Deny redirects the browser with access_denied, whichever organization was chosen", async () => {
  const { harness, decide } = await start({ state: undefined });
  const response = await decide({ action: "deny", organization_id: "org_nonsense" });
  const { error_description: _, ...answer } = answerOf(response);
  assertEquals([response.status, answer, harness.calls], [303, { error: "access_denied", iss: SITE }, []]);
});

Deno.test("clicking Allow twice within half a minute returns the same redirect, even for another organization", async () => {
  const { harness, allow } = await start();
  const first = (await allow()).headers.get("location");
  harness.later(30);
  assertEquals((await allow({ organization_id: team })).headers.get("location"), first);
  harness.later(1);
  await assertPage(await allow(), 400, "You’ve already answered");
});

Deno.test("clicking Allow after the client used the code shows an error page", async () => {
  const { harness, clientId, allow } = await start();
  const { code } = answerOf(await allow());
  assertEquals((await harness.post("token", exchangeFields(clientId, code!))).status, 200);
  await assertPage(await allow(), 400, "You’ve already answered");
});

Deno.test("the code is valid for ten minutes from Allow, however long the page was open", async () => {
  const { harness, clientId, allow } = await start();
  harness.later(590);
  const { code } = answerOf(await allow());
  harness.later(590);
  assertEquals((await harness.post("token", exchangeFields(clientId, code!))).status, 200);
});

Deno.test("two pages lead to two codes", async () => {
  const { harness, clientId, allow } = await start();
  const again = await (await harness.get(authorizationQuery(clientId), person)).text();
  const other = await harness.decide(again, { action: "approve", organization_id: pro }, person);
  assertNotEquals(answerOf(other).code, answerOf(await allow()).code);
});

Deno.test("a form from another site, or from another program than a browser, does nothing", async () => {
  const { harness, decide } = await start();
  const elsewhere: Record<string, string>[] = [
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
    { origin: "null", "sec-fetch-site": "cross-site" },
    { origin: SITE, "sec-fetch-site": "same-site" },
    { origin: "null", "sec-fetch-site": "" },
    { origin: "", "sec-fetch-site": "" },
    { origin: `${SITE}.evil.example`, "sec-fetch-site": "" },
  ];
  for (const headers of elsewhere) {
    await assertPage(
      await decide({ action: "approve", organization_id: pro }, person, headers),
      403,
      "another website",
    );
  }
  assertEquals(harness.calls, []);
  // Browsers older than Sec-Fetch-Site at least send the origin.
  const older = await decide({ action: "approve", organization_id: pro }, person, {
    origin: SITE,
    "sec-fetch-site": "",
  });
  assertEquals(older.status, 303);
});

Deno.test("a page that was shown to another person, altered, invented or is too old does nothing", async () => {
  const { harness, page, decide, allow } = await start();
  await assertPage(
    await decide({ action: "approve", organization_id: stranger.organizations[0] }, stranger),
    403,
    "Somebody else",
  );
  const token = consentOf(page);
  const [body, signature] = token.split(".");
  const altered = btoa(atob(body!).replace("54123", "54124")).replaceAll("=", "");
  for (const consent of [undefined, "", "x.y", `${altered}.${signature}`, `${token}x`]) {
    await assertPage(await allow({ consent }), 400, "That page was incomplete");
  }
  harness.later(600);
  await assertPage(await allow(), 400, "open too long");
  assertEquals(harness.calls, []);
});

Deno.test("a person who signed out in the meantime signs in and consents again", async () => {
  const { decide } = await start();
  const response = await decide({ action: "approve", organization_id: pro }, null);
  assertEquals(response.status, 303);
  assertMatch(response.headers.get("location")!, /^\/login\?next=%2Fapi%2Foauth%2Fauthorize%3F/);
});

Deno.test("a page refuses another person's organization, one without the feature, and none", async () => {
  const { harness, allow } = await start();
  await assertPage(await allow({ organization_id: stranger.organizations[0] }), 403, "not a member");
  await assertPage(await allow({ organization_id: "org_' or true" }), 403, "not a member");
  await assertPage(await allow({ organization_id: free }), 403, "needs the Pro plan");
  await assertPage(await allow({ organization_id: undefined }), 400, "Which organization?");
  await assertPage(await allow({ action: "whatever" }), 400, "didn’t say Allow or Deny");
  assertEquals((await allow()).status, 303);
  assertEquals(harness.calls.length, 3);
});

Deno.test("consent is refused if the feature was lost after the page was shown", async () => {
  const { allow } = await start();
  await database.query("update identity.organizations set plan = 'free' where id = $1", [team]);
  await assertPage(await allow({ organization_id: team }), 403, "needs the Pro plan");
  await database.query("update identity.organizations set plan = 'team' where id = $1", [team]);
});

Deno.test("the consent endpoint accepts only small forms", async () => {
  const { harness, allow } = await start();
  await assertPage(await allow({ padding: "x".repeat(16 * 1024) }), 413, "too long");
  const json = await harness.request("/api/oauth/authorize", {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
  });
  await assertPage(json, 415, "couldn’t read what was sent");
});

Deno.test("no code, token, verifier or state reaches the log", async () => {
  const { harness, clientId, page, allow } = await start({ state: "canary-state" });
  const { code } = answerOf(await allow());
  const tokens = await (await harness.post("token", exchangeFields(clientId, code!))).json();
  await harness.post("token", exchangeFields(clientId, code!));
  const log = harness.log.join("\n");
  const secrets = [code!, consentOf(page), tokens.access_token, tokens.refresh_token, "canary-state"];
  assertEquals(secrets.filter((secret) => log.includes(secret)), []);
  const rows = JSON.stringify([
    await database.query("select * from identity.audit_events"),
    await database.query("select * from oauth.grants"),
    await database.query("select * from oauth.tokens"),
    await database.query("select * from oauth.used_codes"),
    await database.query("select * from oauth.consents"),
  ]);
  assertEquals(secrets.filter((secret) => rows.includes(secret)), []);
});
