/** Forms without a session are accepted only from this site, even from browsers that do not report a form's origin. */
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { BROWSER_TOKEN } from "../../../shared/http/browser_token.ts";
import { answering, createPages, formsOf, type Pages, signIn } from "./harness.ts";

const DATABASE = answering({
  claim_attempt: { outcome: "allowed" },
  note_sign_in: { onboarded: true },
  read_onboarding: { onboarded: false, currencies: ["EUR"] },
});
const SITE = "https://expenses.example";
const OLD_BROWSER = { "sec-fetch-site": "" };

/** One tab: its page's token, and the browser's cookies. */
async function open(pages: Pages, path: string, cookie = "") {
  const response = await pages.app.request(SITE + path, { headers: { cookie } });
  const set = response.headers.getSetCookie();
  const html = await response.text();
  const [form] = formsOf(html);
  return { set, html, token: form?.fields[BROWSER_TOKEN], cookie: set[0]?.split(";")[0] ?? cookie };
}

const post = async (
  pages: Pages,
  path: string,
  { cookie = "", headers = {}, ...fields }: {
    cookie?: string;
    headers?: Partial<Record<string, string>>;
    [field: string]: unknown;
  },
) =>
  await pages.app.request(SITE + path, {
    method: "POST",
    headers: { cookie, ...headers as Record<string, string> },
    body: new URLSearchParams(fields as Record<string, string>),
  });

const mailed = (pages: Pages) => {
  const { redirectTo, tokenHash } = pages.provider.mails[0]!;
  return `${new URL(redirectTo).pathname}${new URL(redirectTo).search}&token_hash=${tokenHash}&type=email`;
};

Deno.test("login, code entry, confirm and logout refuse a forged post from a browser without Fetch Metadata", async () => {
  const pages = createPages(DATABASE, { authProviders: ["google"] });
  const { browser } = await signIn(pages, "victim@example.com");
  await pages.browser().post("/login", { email: "attacker@example.com" });
  const session = `__Host-session=${browser.cookies.get("__Host-session")}`;
  const attacker = await open(pages, "/login");
  const victim = await open(pages, "/login");
  const [requests, mails] = [pages.provider.requests.length, pages.provider.mails.length];
  const forms: [string, Record<string, string>][] = [
    ["/login", { email: "attacker@example.com" }],
    ["/login", { action: "code", code: pages.provider.mails[0]!.code }],
    ["/login", { action: "provider", provider: "google" }],
    [mailed(pages), {}],
    [mailed(pages).replace(/for=[^&]*&/, ""), { email: "attacker@example.com" }],
    ["/logout", {}],
  ];
  for (const [path, fields] of forms) {
    for (const headers of [{}, { origin: SITE }, { origin: "null" }, { origin: "https://evil.example" }]) {
      // No token, garbage, and the token of the attacker's own browser.
      for (
        const token of ["", "x.y", attacker.token!, `${victim.token!.split(".")[0]}.${attacker.token!.split(".")[1]}`]
      ) {
        const cookie = `${session}; ${victim.cookie}`;
        const response = await post(pages, path, { ...fields, [BROWSER_TOKEN]: token, cookie, headers });
        assertEquals(
          [response.status, response.headers.getSetCookie()],
          [403, []],
          `${path} ${JSON.stringify(headers)}`,
        );
        await response.body?.cancel();
      }
    }
  }
  // A valid token does not compensate for a foreign or hidden origin.
  for (const headers of [{ origin: "null" }, { origin: "https://evil.example" }, { "sec-fetch-site": "same-site" }]) {
    const fields = { email: "a@example.com", [BROWSER_TOKEN]: victim.token };
    assertEquals((await post(pages, "/login", { ...fields, cookie: victim.cookie, headers })).status, 403);
  }
  assertEquals([pages.provider.requests.length, pages.provider.mails.length], [requests, mails]);
});

Deno.test("a browser without Fetch Metadata signs in and out with our own forms, with or without an Origin", async () => {
  for (const headers of [{ ...OLD_BROWSER, origin: SITE }, { ...OLD_BROWSER, origin: "" }]) {
    const pages = createPages(DATABASE);
    const browser = pages.browser();
    await browser.post("/login", { email: "mira@example.com" }, headers);
    const confirm = await browser.post(mailed(pages), {}, headers);
    assertEquals(confirm.headers.get("location"), "/account");
    const page = await (await browser.get("/onboarding")).text();
    const form = formsOf(page).find(({ action }) => action === "/logout")!;
    assertEquals((await browser.post("/logout", form.fields, headers)).headers.get("location"), "/");
    assertEquals([...browser.cookies.keys()], []);
  }
});

Deno.test("the cookie is random, HttpOnly, Lax and bound to the host, and the page contains only a signature of it", async () => {
  const pages = createPages(DATABASE);
  const [one, two] = [await open(pages, "/login"), await open(pages, "/login")];
  assertMatch(one.set[0]!, /^__Host-browser=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  assertNotEquals(one.cookie, two.cookie);
  assertNotEquals(one.token, two.token);
  assert(!one.html.includes(one.cookie.split("=")[1]!));
  const local = createPages(DATABASE, { siteUrl: "http://127.0.0.1:54321" });
  assertMatch((await open(local, "/login")).set[0]!, /^browser=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  // Values from a sibling site or an older version are replaced.
  assertEquals((await open(pages, "/login", "__Host-browser=tossed")).set.length, 1);
});

Deno.test("tabs, reloads and the back button work, because one cookie serves every page of a browser", async () => {
  const pages = createPages(DATABASE);
  const first = await open(pages, "/login");
  const second = await open(pages, "/login?next=%2Fx", first.cookie);
  assertEquals(second.set, []);
  for (const { token } of [first, second, first]) {
    const fields = { email: "a@example.com", [BROWSER_TOKEN]: token, cookie: first.cookie, headers: { origin: SITE } };
    assertEquals((await post(pages, "/login", fields)).status, 303);
  }
  // Two tabs opened at the same moment: the later cookie wins, and the browser accepts the other tab's form.
  const [lost, kept] = await Promise.all([open(pages, "/login"), open(pages, "/login")]);
  const headers = { "sec-fetch-site": "same-origin" };
  const late = { email: "a@example.com", [BROWSER_TOKEN]: lost.token, cookie: kept.cookie, headers };
  assertEquals((await post(pages, "/login", late)).status, 303);
  assertEquals((await post(pages, "/login", { ...late, [BROWSER_TOKEN]: "" })).status, 403);
});

Deno.test("tokens survive a secret rotation as long as the old secret is listed", async () => {
  const before = createPages(DATABASE, { codeSecrets: ["old-secret-of-more-than-thirty-two-bytes"] });
  const tab = await open(before, "/login");
  const fields = { email: "a@example.com", [BROWSER_TOKEN]: tab.token, cookie: tab.cookie, headers: { origin: SITE } };
  for (
    const [secrets, status] of [[["new", "old-secret-of-more-than-thirty-two-bytes"], 303], [["new"], 403]] as const
  ) {
    const after = createPages(DATABASE, { codeSecrets: [...secrets] });
    assertEquals((await post(after, "/login", fields)).status, status);
  }
});

Deno.test("without cookies, a page explains that it needs them", async () => {
  const pages = createPages(DATABASE);
  const { token } = await open(pages, "/login");
  const headers = { "sec-fetch-site": "same-origin", origin: SITE };
  const response = await post(pages, "/login", { email: "a@example.com", [BROWSER_TOKEN]: token, headers });
  assertEquals(response.status, 403);
  assertStringIncludes(await response.text(), "This page needs cookies, and your browser sent none.");
  assertEquals(pages.provider.mails, []);
});
