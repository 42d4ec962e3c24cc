import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { answering, type Browser, createPages, type Pages, signIn } from "./harness.ts";

const ACCOUNT = {
  profile: {
    email: "mira@example.com",
    timezone: "UTC",
    email_enabled: true,
    default_lead_days: 3,
    reminder_email: null,
    reminder_email_confirmed: false,
  },
  organizations: [],
  connected_apps: [],
  grant_alerts: [],
  provider_links: [],
  connectable_bills: [],
};
const DATABASE = answering({
  claim_attempt: { outcome: "allowed" },
  note_sign_in: { onboarded: true },
  read_account: ACCOUNT,
});

/** A person whose access token has run out since they signed in. */
async function returning(pages: Pages): Promise<Browser> {
  pages.provider.expiresIn = -60;
  const { browser } = await signIn(pages, "mira@example.com");
  pages.provider.expiresIn = 3600;
  return browser;
}

Deno.test("readSession() asks the identity provider about every session and believes no cookie", async () => {
  const pages = createPages(DATABASE);
  const { browser } = await signIn(pages, "mira@example.com");
  assertEquals((await browser.get("/account")).status, 200);
  assertEquals(pages.provider.requests.at(-1), "GET /auth/v1/user");
  const forged = pages.browser();
  const session = JSON.stringify({
    access_token: "a.b.c",
    refresh_token: "x",
    expires_at: 9999999999,
    user: { id: "1" },
  });
  for (const value of [`base64-${btoa(session)}`, "base64-garbage", "garbage", "%7B%22user%22%3A1%7D"]) {
    forged.cookies.set("__Host-session", value);
    assertEquals((await forged.get("/account")).headers.get("location"), "/login?next=%2Faccount", value);
  }
});

Deno.test("readSession() asks nobody when there is no session cookie", async () => {
  const pages = createPages(DATABASE);
  await pages.browser().get("/account");
  assertEquals(pages.provider.requests, []);
});

Deno.test("readSession() refreshes an expired session once and sends the new cookie with a page", async () => {
  const pages = createPages(DATABASE);
  const browser = await returning(pages);
  const [before, asked] = [browser.cookies.get("__Host-session"), pages.provider.requests.length];
  const response = await browser.get("/account");
  assertEquals(response.status, 200);
  assertEquals(pages.provider.requests.slice(asked), ["POST /auth/v1/token", "GET /auth/v1/user"]);
  assertNotEquals(browser.cookies.get("__Host-session"), before);
});

Deno.test("readSession() signs out when the identity provider refuses the refresh", async () => {
  const pages = createPages(DATABASE);
  const browser = await returning(pages);
  pages.provider.failure = () =>
    Promise.resolve(Response.json({ code: "refresh_token_not_found", msg: "no" }, { status: 400 }));
  assertEquals((await browser.get("/account")).headers.get("location"), "/login?next=%2Faccount");
  assert(!browser.cookies.has("__Host-session"));
});

Deno.test(
  "readSession() leaves cookies alone on an outage or a rate limit and says so",
  async () => {
    const pages = createPages(DATABASE);
    const browser = await returning(pages);
    for (const [upstream, status] of [[429, 429], [500, 503], [503, 503]] as const) {
      pages.provider.failure = () => Promise.resolve(Response.json({ msg: "no" }, { status: upstream }));
      const response = await browser.get("/account?a=1");
      assertEquals([response.status, response.headers.getSetCookie()], [status, []], String(upstream));
      assert(response.headers.has("retry-after"));
      assertStringIncludes(await response.text(), 'href="/account?a=1"');
    }
    pages.provider.failure = undefined;
    assertEquals((await browser.get("/account")).status, 200);
  },
);

Deno.test("readSession() gives the identity provider 3 seconds", async () => {
  const pages = createPages(DATABASE);
  const browser = await returning(pages);
  pages.provider.failure = (signal) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const startedAt = performance.now();
  const response = await browser.get("/account");
  const seconds = (performance.now() - startedAt) / 1000;
  assert(seconds >= 2.9 && seconds < 5.5, `it took ${seconds} s`);
  assertEquals([response.status, response.headers.getSetCookie()], [503, []]);
  assertStringIncludes(await response.text(), "you are still signed in");
});

Deno.test("a session too large for one cookie is kept in several, and all go at sign-out", async () => {
  const pages = createPages(DATABASE);
  Object.assign(pages.provider.user("mira@example.com"), { user_metadata: { picture: "x".repeat(4000) } });
  const { browser } = await signIn(pages, "mira@example.com");
  const names = () => [...browser.cookies.keys()].filter((name) => name.startsWith("__Host-session"));
  assertEquals(names(), ["__Host-session.0", "__Host-session.1"]);
  assertEquals((await browser.get("/account")).status, 200);
  await browser.post("/logout", {});
  assertEquals(names(), []);
});

Deno.test("nothing that signs people in or names them reaches the log", async () => {
  const pages = createPages(DATABASE);
  const { browser } = await signIn(pages, "mira@example.com", "/account?x=secret-next");
  await browser.get("/auth/callback?code=secret-code");
  pages.provider.failure = () => Promise.resolve(new Response("secret-body", { status: 500 }));
  await browser.get("/account?t=secret-t");
  const log = pages.log.join("\n");
  assertStringIncludes(log, '"status":503');
  for (const secret of ["mira", "secret", ...browser.cookies.values()]) assert(!log.includes(secret), secret);
});

Deno.test("a 429 of the identity provider says how long to wait, by its header or its sentence, within reason (real-parts finding 8)", async () => {
  const pages = createPages(DATABASE);
  const sentence = "For security purposes, you can only request this after 42 seconds.";
  const cases: [string, string | undefined, string][] = [
    [sentence, undefined, "42"],
    [sentence, "7", "7"],
    ["email rate limit exceeded", undefined, "60"],
    ["email rate limit exceeded", "soon", "60"],
    ["email rate limit exceeded", "0", "1"],
    ["you can only request this after 999999999 seconds", undefined, "3600"],
    ["", "1e99", "3600"],
  ];
  for (const [msg, header, wait] of cases) {
    pages.provider.failure = () =>
      Promise.resolve(Response.json({ code: "over_email_send_rate_limit", msg }, {
        status: 429,
        headers: { "x-supabase-api-version": "2024-01-01", ...(header && { "retry-after": header }) },
      }));
    const response = await pages.browser().post("/login", { email: "mira@example.com" });
    assertEquals([response.status, response.headers.get("retry-after")], [429, wait], `${msg} ${header}`);
    assertStringIncludes(await response.text(), "Too many attempts. Try again in ");
  }
});
