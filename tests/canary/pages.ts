/**
 * Every page as each kind of person, and every form on it, once unchanged and once with the second organization's ids.
 */
import { authorizationQuery, createHarness, sessionOf } from "../functions/oauth/harness.ts";
import { type Browser, createPages, formsOf, over, type Pages, signIn } from "../functions/auth-callback/harness.ts";
import { signUnsubscribing } from "../../shared/reminders/unsubscribe_token.ts";
import type { TestDatabase } from "../_support/database.ts";
import { unzip } from "../_support/unzip.ts";
import { difference } from "./functions.ts";
import { dump, leaksIn, type Tenant, type Tenants } from "./tenants.ts";

/**
 * URLs to open, by route, for an organization. `unsubscribe` is a signed link of the first owner, `calendar` one of
 * the first member.
 */
const ADDRESSES: Record<string, (one: Tenant, links: { unsubscribe: string[]; calendar: string[] }) => string[]> = {
  "/": () => ["/"],
  "/favicon.ico": () => ["/favicon.ico"],
  "/icons/:name": () => ["/icons/none.svg"],
  "/.well-known/openai-apps-challenge": () => ["/.well-known/openai-apps-challenge"],
  "/privacy": () => ["/privacy"],
  "/terms": () => ["/terms"],
  "/review": () => ["/review"],
  "/login": () => ["/login", "/login?next=/account"],
  "/auth/callback": () => ["/auth/callback", "/auth/callback?code=unknown"],
  "/onboarding": () => ["/onboarding"],
  "/account": () => ["/account"],
  "/account/calendar": () => ["/account/calendar"],
  "/account/email": () => ["/account/email"],
  "/account/email/confirm": () => ["/account/email/confirm", "/account/email/confirm?for=unknown"],
  "/calendar/:file": (_, { calendar }) => [...calendar, "/calendar/none"],
  "/account/activity": (one) => [
    "/account/activity",
    `/account/activity?organization=${one.organizationId}`,
    `/account/activity?organization=${one.organizationId}&q=a&by=${one.ownerId}`,
    `/account/activity?organization=${one.organizationId}&change=chg_${one.organizationId.slice(4)}`,
  ],
  "/account/access": (one) => [`/account/access?grant=${one.grantId}`],
  "/account/disconnect": (one) => [`/account/disconnect?grant=${one.grantId}`],
  "/account/providers/connect": (one) =>
    [one.openBillId, one.brokenBillId].flatMap((bill) => [
      `/account/providers/connect?bill=${bill}`,
      `/account/providers/connect?bill=${bill}&provider=openai`,
    ]),
  "/account/providers/connected": (one) => [`/account/providers/connected?bill=${one.brokenBillId}`],
  "/account/providers/remove": (one) => [`/account/providers/remove?link=${one.linkId}`],
  "/account/import/:id": (one) => [one.waitingImportId, one.importId].map((id) => `/account/import/${id}`),
  "/organizations/:id/mail": (one) => [`/organizations/${one.organizationId}/mail`],
  "/account/documents/:id": (one) => [`/account/documents/${one.documentId}`],
  "/account/documents/:id/file": (one) => [`/account/documents/${one.documentId}/file`],
  "/organizations/:id/export": (one) => [`/organizations/${one.organizationId}/export`],
  "/organizations/:id/export/datev": (one) => [`/organizations/${one.organizationId}/export/datev`],
  "/account/delete": () => ["/account/delete"],
  "/organizations/:id/delete": (one) => [`/organizations/${one.organizationId}/delete`],
  "/account/expenses.csv": () => ["/account/expenses.csv", "/account/expenses.csv?t=unknown"],
  "/account/reminder-email": () => ["/account/reminder-email", "/account/reminder-email?t=unknown"],
  "/invitation": (one) => ["/invitation", "/invitation?t=unknown", `/invitation?t=${one.invitationToken}`],
  "/organizations/new": () => ["/organizations/new", "/organizations/new?next=/account"],
  "/organizations/:id/approvals": (one) => [`/organizations/${one.organizationId}/approvals`],
  "/account/approvals/:id": (one) => [`/account/approvals/${one.proposalId}`],
  "/books": (one) =>
    ["", "&month=2026-10", "&q=a", "&cursor=unknown", "&paid=chg_000000000001"].map((more) =>
      `/books?organization=${one.organizationId}${more}`
    ),
  "/organizations/:id/plan": (one) => [`/organizations/${one.organizationId}/plan`],
  "/organizations/:id/members": (one) => [`/organizations/${one.organizationId}/members`],
  "/organizations/:id/members/remove": (one) =>
    [one.viewerId, one.ownerId].map((id) => `/organizations/${one.organizationId}/members/remove?member=${id}`),
  "/organizations/:id/hand-over": (one) => [`/organizations/${one.organizationId}/hand-over`],
  "/email/unsubscribe": (_, { unsubscribe }) => ["/email/unsubscribe", ...unsubscribe],
};

/** Opens every page and reports leaks and changes of the second organization. */
export async function checkPages(
  database: TestDatabase,
  tenants: Tenants,
): Promise<{ findings: string[]; seen: string[] }> {
  const { first, second } = tenants;
  const findings: string[] = [];
  const seen: string[] = [];
  const look = async (who: string, what: string, response: Response): Promise<string> => {
    const text = `${JSON.stringify([...response.headers])}\n${await textOf(response)}`;
    seen.push(`${who} ${what.split("?")[0]} ${response.status}`);
    // The holder of an invitation's link received its mail.
    const isMailed = who === "a stranger" && what.includes(second.invitationToken);
    const leaks = isMailed ? [] : leaksIn(text, tenants, what);
    if (leaks.length > 0) findings.push(`${who}: ${what} shows ${leaks.join(", ")}`);
    if (response.status >= 500) findings.push(`${who}: ${what} answers ${response.status}`);
    return text;
  };
  const before = await dump(database, tenants);
  for (const [who, open] of Object.entries(PEOPLE)) {
    const pages = createPages(over(database), { rateLimits: "off" });
    const routes = pages.app.routes.filter(({ method }) => method === "GET").map(({ path }) => path);
    findings.push(
      ...routes.filter((path) => !(path in ADDRESSES)).map((path) =>
        `the page ${path} is not opened: add to ADDRESSES in tests/canary/pages.ts by which addresses`
      ),
    );
    const calendar = [`/calendar/${first.calendarToken}.ics`];
    const links = { unsubscribe: await unsubscribing(pages, tenants), calendar };
    const browser = await open(pages, first, database);
    for (const addressesOf of Object.values(ADDRESSES)) {
      for (const address of new Set([...addressesOf(first, links), ...addressesOf(second, links)])) {
        const text = await look(who, address, await browser.get(address));
        for (const { action, fields } of formsOf(text).filter(({ action }) => action !== "/logout")) {
          const scopes = "scope" in fields || address.startsWith("/email/")
            ? [second.organizationId, second.openBillId]
            : [];
          const scoped = scopes.map((scope) => ({ ...fields, scope }));
          for (const sent of [fields, substituteIds(fields, tenants), ...scoped]) {
            const target = substituteIds({ action: action || address }, tenants).action!;
            for (const to of new Set([action || address, target])) {
              await look(who, `${to} ${JSON.stringify(sent)}`, await browser.post(to, sent));
            }
          }
        }
      }
    }
    if (pages.mails.some((mail) => leaksIn(JSON.stringify(mail), tenants).length > 0)) {
      findings.push(`${who}: a mail of the pages tells of the second organization`);
    }
  }
  // The consent page: the fake identity provider trusts the session's person.
  const oauth = createHarness(over(database), { rateLimits: "off" });
  const query = authorizationQuery(first.clientId, { redirect_uri: "https://client.example/callback" });
  for (
    const person of [null, { id: first.ownerId, email: first.ownerEmail }, {
      id: first.memberId,
      email: first.memberEmail,
    }]
  ) {
    const text = await look(person?.email ?? "stranger", query, await oauth.get(query, person));
    const fields = { action: "approve", organization_id: second.organizationId };
    const response = await oauth.decide(text, fields, person, person ? { cookie: sessionOf(person) } : {});
    await look(person?.email ?? "stranger", `/api/oauth/authorize ${JSON.stringify(fields)}`, response);
  }
  return { findings: [...findings, ...difference(before, await dump(database, tenants))], seen };
}

/** The contents of a ZIP for a person, unpacked. */
const textOf = async (response: Response): Promise<string> =>
  response.headers.get("content-type") === "application/zip"
    ? [...unzip(new Uint8Array(await response.arrayBuffer())).values()].join("\n")
    : await response.text();

/** Opens a browser as each kind of person. */
const PEOPLE: Record<string, (pages: Pages, first: Tenant, database: TestDatabase) => Promise<Browser>> = {
  "somebody without an organization": async (pages) => (await signIn(pages, "nobody@third.example")).browser,
  "a stranger": (pages) => Promise.resolve(pages.browser()),
  "a member": (pages, { memberId, memberEmail }) => known(pages, memberId, memberEmail),
  "a member whose apps may only read": async (pages, { memberId, memberEmail }, database) => {
    // "A member" disconnected them.
    await database.query(
      "update oauth.grants set access = 'read', revoked_at = null, revocation_reason = null where user_id = $1",
      [memberId],
    );
    return await known(pages, memberId, memberEmail);
  },
  "an owner": (pages, { ownerId, ownerEmail }) => known(pages, ownerId, ownerEmail),
};

async function known(pages: Pages, id: string, email: string): Promise<Browser> {
  pages.provider.users.set(email, { id, email });
  return (await signIn(pages, email)).browser;
}

/** A link of the first owner that works by itself, and one that requires signing in. */
const unsubscribing = (pages: Pages, { first }: Tenants) =>
  Promise.all(
    [pages.clock.now.toISOString().slice(0, 10), "2024-01-01"].map(async (sentOn) =>
      `/email/unsubscribe?t=${
        encodeURIComponent(await signUnsubscribing(pages.config.codeSecrets, { userId: first.ownerId, sentOn }))
      }`
    ),
  );

/** Form fields, with ids of the first organization replaced by the second's. */
function substituteIds(fields: Record<string, string>, { first, second }: Tenants): Record<string, string> {
  const swap = (text: string) =>
    Object.keys(first).reduce(
      (done, key) => done.replaceAll(first[key as keyof Tenant], second[key as keyof Tenant]),
      text,
    );
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, swap(value)]));
}
