/**
 * A directory's reviewer signs in with a code and reaches one organization, until the operator or the last day ends the
 * access.
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createReviewer, listReviewers, ReviewerError, revokeReviewer } from "../../../local/reviewer/access.ts";
import { readConfig } from "../../../shared/config.ts";
import { addMember } from "../../_support/books.ts";
import { sharedDatabase, type TestDatabase } from "../../_support/database.ts";
import { createPages, NOW, over, type Pages } from "./harness.ts";

const EMAIL = "review@expenses.example";
const DAY = 86_400_000;
const database = await sharedDatabase();

async function start(): Promise<{ pages: Pages; access: Awaited<ReturnType<typeof createReviewer>>; userId: string }> {
  await database.reset();
  const access = await createReviewer(database, { email: EMAIL, days: 60, at: NOW });
  const pages = createPages(over(database), { reviewSignIn: true });
  const [{ user_id: userId }] = await query<{ user_id: string }>("select user_id from identity.reviewers");
  pages.provider.users.set(EMAIL, { id: userId, email: EMAIL });
  return { pages, access, userId };
}

const query = async <Row extends object>(sql: string, parameters: unknown[] = []) =>
  await database.query<Row>(sql, parameters) as [Row, ...Row[]];

async function enter(pages: Pages, code: string, path = "/review") {
  const browser = pages.browser();
  const response = await browser.submit(await (await browser.get(path)).text(), 'name="code"', { code });
  return { browser, status: response.status, location: response.headers.get("location"), page: await response.text() };
}

/** A person with their own books. */
async function addAnn(): Promise<{ userId: string; organizationId: string }> {
  const email = "ann@example.com";
  const [{ id }] = await query<{ id: string }>(
    "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id",
    [email],
  );
  const { organization_id } = await database.asService<{ organization_id: string }>("complete_onboarding", {
    ...{ user_id: id, email, country: "DE", timezone: "Europe/Berlin", reminder_email: null },
    ...{ organization_name: "Ann's", base_currency: "EUR", at: NOW.toISOString() },
  });
  return { userId: id, organizationId: organization_id };
}

const isActive = async (userId: string, at: Date) =>
  (await query<{ active: boolean }>("select identity.is_active($1, $2) as active", [userId, at.toISOString()]))[0]
    .active;

const hookRefuses = async (userId: string, db: TestDatabase = database) => {
  const [{ output }] = await db.query<{ output: { error?: unknown } }>(
    "select identity.refuse_passwords($1::text::jsonb) as output",
    [JSON.stringify({ user_id: userId, claims: { amr: [{ method: "otp" }] }, authentication_method: "token_refresh" })],
  ) as [{ output: { error?: unknown } }];
  return output.error !== undefined;
};

Deno.test("a reviewer's code signs in without a mail, shows the demo's books, and is in the activity log", async () => {
  const { pages, access } = await start();
  assertEquals(access.expiresAt, new Date(NOW.getTime() + 60 * DAY));
  // In the form that people type.
  const { browser, status, location } = await enter(pages, ` ${access.code.toLowerCase()} `, "/review?next=/books");
  assertEquals([status, location, pages.provider.mails.length], [303, "/books", 0]);
  const books = await (await browser.get("/books")).text();
  assertStringIncludes(books, "Garden Street household");
  const activity = await (await browser.get(`/account/activity?organization=${access.organizationId}`)).text();
  assertStringIncludes(activity, "A directory’s reviewer signed in");
  const [listed] = await listReviewers(database);
  assertEquals([listed!.email, listed!.sign_ins], [EMAIL, 1]);
  // The books are as complete as the demo's, and contain no invented rate.
  const [counts] = await query<{ bills: number; payments: number; rates: number }>(
    `select (select count(*)::int from app.expenses where kind = 'bill') as bills,
       (select count(*)::int from app.payments) as payments, (select count(*)::int from app.fx_rates) as rates`,
  );
  assert(counts.bills === 25 && counts.payments > 500 && counts.rates === 0, JSON.stringify(counts));
});

Deno.test("the database stores no code, and refuses every wrong code in the same way", async () => {
  const { pages, access } = await start();
  const [{ kept }] = await query<{ kept: string }>("select to_jsonb(r)::text as kept from identity.reviewers as r");
  // The last part is one character, which any row may contain.
  for (const part of access.code.split("-").slice(0, -1)) assert(!kept.includes(part));
  const wrong = access.code.replace(/^./, (letter) => letter === "A" ? "B" : "A");
  const refused = await enter(pages, wrong);
  assertEquals(refused.status, 400);
  assertStringIncludes(refused.page, "This code isn’t valid, or it has expired.");
  assertEquals((await enter(pages, "123456")).status, 400);
  assertEquals(pages.provider.requests, []);
});

Deno.test("a code starts no session if its address belongs to another account in the meantime", async () => {
  const { pages, access } = await start();
  pages.provider.users.set(EMAIL, { id: crypto.randomUUID(), email: EMAIL });
  const { browser, status, page } = await enter(pages, access.code);
  assertEquals(status, 400);
  assertStringIncludes(page, "This code isn’t valid, or it has expired.");
  assertEquals((await browser.get("/account")).status, 303, "nobody is signed in");
});

Deno.test("codes are limited by caller", async () => {
  await start();
  const pages = createPages(over(database), {
    reviewSignIn: true,
    rateLimits: { sign_in_ip: 3, login_link_secret: 9 },
  });
  const statuses = [];
  for (const letter of "ABCDE") {
    const response = await pages.browser().post("/review", { code: letter.repeat(26) }, {
      "x-forwarded-for": "203.0.113.9",
    });
    statuses.push(response.status);
  }
  assertEquals(statuses, [400, 400, 400, 429, 429]);
});

Deno.test("without the setting there is neither a page nor a link to it", async () => {
  assertEquals(readConfig({}, []).reviewSignIn, false);
  const { pages, access } = await start();
  const login = async (p: Pages) => await (await p.browser().get("/login")).text();
  assertStringIncludes(await login(pages), 'href="/review"');
  const off = createPages(over(database));
  assertEquals((await login(off)).includes("/review"), false);
  const browser = off.browser();
  assertEquals((await browser.get("/review")).status, 404);
  assertEquals((await browser.post("/review", { code: access.code })).status, 404);
});

Deno.test("a reviewer's code, session and connections stop working when the access expires", async () => {
  const { pages, access, userId } = await start();
  const { browser } = await enter(pages, access.code);
  const last = new Date(access.expiresAt.getTime() - 1);
  assertEquals([await isActive(userId, last), await isActive(userId, access.expiresAt)], [true, false]);
  pages.clock.now = access.expiresAt;
  const again = await enter(pages, access.code);
  assertStringIncludes(again.page, "This code isn’t valid, or it has expired.");
  const books = await (await browser.get(`/books?organization=${access.organizationId}`)).text();
  assertEquals(books.includes("Edeka"), false);
  assertEquals(await hookRefuses(userId), false);
  await database.query("update identity.reviewers set created_at = now() - interval '3 days', expires_at = now()");
  assertEquals(await hookRefuses(userId), true);
});

Deno.test("the operator can end an access and its apps' connections immediately", async () => {
  const { pages, access, userId } = await start();
  const later = new Date(NOW.getTime() + DAY);
  await database.query(
    `with client as (
       insert into oauth.clients (client_id, client_name, redirect_uris, created_at)
       values ('client_r', 'App', '{https://app.example/}', $3) returning client_id
     )
     insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
     select gen_random_uuid(), client_id, $1, $2, 'https://app.example/', 'https://app.example/', $3, $3::timestamptz + interval '90 days'
     from client`,
    [userId, access.organizationId, NOW.toISOString()],
  );
  await revokeReviewer(database, EMAIL, later);
  assertEquals([await isActive(userId, NOW), await isActive(userId, later)], [true, false]);
  pages.clock.now = later;
  assertStringIncludes((await enter(pages, access.code)).page, "This code isn’t valid, or it has expired.");
  assertEquals(await query("select revoked_at, revocation_reason from oauth.grants"), [
    { revoked_at: later.toISOString().replace(".000Z", "+00:00"), revocation_reason: "revoked_by_user" },
  ] as [object]);
  const [{ deletes_at }] = await query<{ deletes_at: string }>("select deletes_at from identity.organizations");
  assertEquals(new Date(deletes_at), new Date(later.getTime() + 14 * DAY));
  await assertRejects(() => revokeReviewer(database, "nobody@expenses.example", later), ReviewerError);
});

Deno.test("the purge deletes the books and people of an expired access, but nobody whom the reviewer invited", async () => {
  const { access } = await start();
  const { userId: guest, organizationId: own } = await addAnn();
  await addMember(database, access.organizationId, guest, "viewer");
  const purge = async (at: number) =>
    (await query<{ done: Record<string, number> }>("select jobs.purge($1) as done", [new Date(at).toISOString()]))[0]
      .done;
  const left = async () =>
    (await query<{ left: string[] }>(
      `select array(select id from identity.organizations union all select email from identity.profiles
         union all select u.email from auth.users as u where u.deleted_at is null order by 1) as left`,
    ))[0].left;
  const all = await left();
  const over = access.expiresAt.getTime();
  assertEquals((await purge(over - 1)).reviews, 0);
  assertEquals([(await purge(over)).reviews, (await purge(over)).reviews], [1, 0]);
  assertEquals(await query("select deletes_at from identity.profiles where user_id = $1", [guest]), [{
    deletes_at: null,
  }]);
  await purge(over + 14 * DAY - 1);
  assertEquals(await left(), all);
  await purge(over + 14 * DAY);
  assertEquals(await left(), ["ann@example.com", "ann@example.com", own]);
  assertEquals(await listReviewers(database), []);
  // The address is free for the next review.
  await createReviewer(database, { email: EMAIL, days: 60, at: new Date(over + 15 * DAY) });
});

Deno.test("a reviewer can neither create, join nor be added to another organization", async () => {
  const { access, userId } = await start();
  const at = NOW.toISOString();
  const found = await database.asService<{ outcome: string; most: number }>("create_organization", {
    user_id: userId,
    name: "Second",
    base_currency: "EUR",
    at,
  });
  assertEquals(found, { outcome: "too_many", most: 1 });
  const { userId: stranger, organizationId: other } = await addAnn();
  const token_hash = "ab".repeat(32);
  await database.asService("invite_member", {
    ...{ user_id: stranger, organization_id: other, address: EMAIL, role: "member", token_hash, at },
  });
  const accepted = await database.asService<{ outcome: string }>("accept_invitation", {
    ...{ token_hash, user_id: userId, email: EMAIL, at },
  });
  assertEquals(accepted.outcome, "withdrawn");
  await assertRejects(
    () => addMember(database, other, userId, "viewer"),
    Error,
    "a reviewer belongs to one organization",
  );
  const [{ organizations }] = await query<{ organizations: string[] }>(
    "select array_agg(organization_id) as organizations from identity.memberships where user_id = $1",
    [userId],
  );
  assertEquals(organizations, [access.organizationId]);
});

Deno.test("an access lasts at most sixty days, and no existing account becomes a reviewer's", async () => {
  const { access } = await start();
  assert(access);
  await assertRejects(() => createReviewer(database, { email: EMAIL, days: 60, at: NOW }), ReviewerError, "already");
  await assertRejects(
    () => createReviewer(database, { email: "second@expenses.example", days: 61, at: NOW }),
    Error,
    "reviewers_short",
  );
});
