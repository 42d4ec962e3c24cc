import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { answering, type Browser, createPages, type Pages, signIn } from "./harness.ts";

const ACCOUNT = {
  profile: {
    email: "mira@example.com",
    country: "NL",
    timezone: "UTC",
    email_enabled: true,
    default_lead_days: 3,
    reminder_email: null,
    reminder_email_confirmed: false,
    refused_email: null,
    deletes_at: null,
  },
  plans_enabled: true,
  plan_features: {},
  first_steps: { app: true, expense: true, bill: true },
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

/** A person whose access token has expired after the sign-in. */
async function returning(pages: Pages): Promise<Browser> {
  pages.provider.expiresIn = -60;
  const { browser } = await signIn(pages, "mira@example.com");
  pages.provider.expiresIn = 3600;
  return browser;
}

/** With the six digits, so that only readSession() checks how the session began. */
async function signInWithCode(pages: Pages, email: string): Promise<{ browser: Browser }> {
  const browser = pages.browser();
  await browser.post("/login", { email });
  await browser.post("/login", { action: "code", code: pages.provider.mails[0]!.code });
  return { browser };
}

Deno.test("readSession() checks every session with the identity provider and trusts no cookie", async () => {
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

Deno.test("readSession() makes no request without a session cookie", async () => {
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
  "readSession() keeps cookies on an outage or a rate limit and reports it",
  async () => {
    const pages = createPages(DATABASE);
    const browser = await returning(pages);
    // 401 without a code: the platform's gateway refuses our own publishable key.
    for (const [upstream, status] of [[429, 429], [500, 503], [503, 503], [522, 503], [401, 503]] as const) {
      pages.provider.failure = () => Promise.resolve(Response.json({ message: "no" }, { status: upstream }));
      const response = await browser.get("/account?a=1");
      assertEquals([response.status, response.headers.getSetCookie()], [status, []], String(upstream));
      assert(response.headers.has("retry-after"));
      assertStringIncludes(await response.text(), 'href="/account?a=1"');
    }
    pages.provider.failure = undefined;
    assertEquals((await browser.get("/account")).status, 200);
  },
);

Deno.test("readSession() waits 3 seconds for the identity provider", async () => {
  const pages = createPages(DATABASE);
  const browser = await returning(pages);
  pages.provider.failure = (signal) =>
    new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const startedAt = Date.now();
  const response = await browser.get("/account");
  const seconds = (Date.now() - startedAt) / 1000;
  // The provider would never respond. This is only a lower bound, so a slow machine passes too.
  assert(seconds >= 2.9, `it took ${seconds} s`);
  assertEquals([response.status, response.headers.getSetCookie()], [503, []]);
  assertStringIncludes(await response.text(), "If you were saving something, check before trying again.");
});

Deno.test("a session too large for one cookie is split over several, and sign-out removes all of them", async () => {
  const pages = createPages(DATABASE);
  Object.assign(pages.provider.user("mira@example.com"), { user_metadata: { picture: "x".repeat(4000) } });
  const { browser } = await signIn(pages, "mira@example.com");
  const names = () => [...browser.cookies.keys()].filter((name) => name.startsWith("__Host-session"));
  assertEquals(names(), ["__Host-session.0", "__Host-session.1"]);
  assertEquals((await browser.get("/account")).status, 200);
  await browser.post("/logout", {});
  assertEquals(names(), []);
});

Deno.test("no credentials or personal data reach the log", async () => {
  const pages = createPages(DATABASE);
  const { browser } = await signIn(pages, "mira@example.com", "/account?x=secret-next");
  await browser.get("/auth/callback?code=secret-code");
  pages.provider.failure = () => Promise.resolve(new Response("secret-body", { status: 500 }));
  await browser.get("/account?t=secret-t");
  const log = pages.log.join("\n");
  assertStringIncludes(log, '"status":503');
  for (const secret of ["mira", "secret", ...browser.cookies.values()]) assert(!log.includes(secret), secret);
});

Deno.test("a 429 of the identity provider sets the wait from its header or message, within limits", async () => {
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

// An account pre-hijacked with a password.
Deno.test("a session started by a password is rejected and ended at the identity provider", async () => {
  const pages = createPages(DATABASE);
  pages.provider.method = "password";
  const { browser } = await signInWithCode(pages, "mira@example.com");
  assert(browser.cookies.has("__Host-session"));
  const response = await browser.get("/account");
  assertEquals([response.status, response.headers.get("location")], [303, "/login?next=%2Faccount"]);
  assertEquals(pages.provider.requests.at(-1), "POST /auth/v1/logout");
  assert(!browser.cookies.has("__Host-session"));
  assertStringIncludes(await (await browser.get("/login")).text(), "Sign in with a link or code we email you.");
});

Deno.test("a session from another service counts only when we offer that service", async () => {
  for (const [authProviders, status] of [[["github"], 200], [["google"], 303], [[], 303]] as const) {
    const pages = createPages(DATABASE, { authProviders });
    pages.provider.method = "oauth";
    pages.provider.services = ["github"];
    const { browser } = await signInWithCode(pages, "mira@example.com");
    assertEquals((await browser.get("/account")).status, status, String(authProviders));
  }
});

Deno.test("a code of a service that we do not offer starts no session, and nothing about the person is stored", async () => {
  const noted: string[] = [];
  const database: typeof DATABASE = {
    call: (name, args) => {
      noted.push(name);
      return DATABASE.call(name, args);
    },
  };
  const pages = createPages(database, { authProviders: ["google"] });
  pages.provider.method = "oauth";
  pages.provider.services = ["github"];
  const browser = pages.browser();
  await browser.post("/login", { email: "mira@example.com" });
  const link = new URL(await pages.provider.follow(pages.provider.mails[0]!));
  const response = await browser.get(link.pathname + link.search);
  assertEquals([response.status, browser.cookies.has("__Host-session")], [400, false]);
  assertStringIncludes(await response.text(), "You can’t sign in this way");
  assertEquals(noted, ["claim_attempt", "claim_attempt"]);
});

/** Every way in which a page learns of a ban: its own check, a refresh, or the person's record. */
const BANS: Record<string, (pages: Pages) => void> = {
  "refused at a check": ({ provider }) => void provider.banned.add("mira@example.com"),
  "refused at the refresh": ({ provider }) => void provider.banned.add("mira@example.com"),
  "told": ({ provider, clock }) =>
    void Object.assign(provider.user("mira@example.com"), {
      banned_until: new Date(clock.now.getTime() + 60_000).toISOString(),
    }),
};

for (const [how, ban] of Object.entries(BANS)) {
  Deno.test(`a suspended person's session gets "This account is suspended", with a next step: ${how}`, async () => {
    for (const supportUrl of [undefined, "https://support.example"]) {
      const pages = createPages(DATABASE, { supportUrl });
      const browser = how.includes("refresh")
        ? await returning(pages)
        : (await signIn(pages, "mira@example.com")).browser;
      ban(pages);
      for (const path of ["/account", "/onboarding", "/account/disconnect?grant_id=1", "/login"]) {
        const visitor = pages.browser();
        for (const [name, value] of browser.cookies) visitor.cookies.set(name, value);
        const response = await visitor.get(path);
        const page = await response.text();
        assertEquals(response.status, 403, path);
        assertStringIncludes(page, "<h1>This account is suspended</h1>");
        assertStringIncludes(page, `href="${supportUrl ?? "/login"}"`);
        // Another person can then sign in here.
        assertEquals([...visitor.cookies.keys()].filter((name) => name.includes("session")), []);
        assertEquals((await visitor.get("/login")).status, 200);
      }
    }
  });
}

Deno.test("an expired ban does not block sign-in", async () => {
  const pages = createPages(DATABASE);
  const { browser } = await signIn(pages, "mira@example.com");
  Object.assign(pages.provider.user("mira@example.com"), { banned_until: pages.clock.now.toISOString() });
  assertEquals((await browser.get("/account")).status, 200);
});

Deno.test("a deleted person's session is not accepted", async () => {
  const pages = createPages(DATABASE);
  const { browser } = await signIn(pages, "mira@example.com");
  Object.assign(pages.provider.user("mira@example.com"), { deleted_at: "2026-11-20T00:00:00Z" });
  assertEquals((await browser.get("/account")).headers.get("location"), "/login?next=%2Faccount");
  assert(!browser.cookies.has("__Host-session"));
});

Deno.test("a suspended person with a valid code or link sees the suspension", async () => {
  const pages = createPages(DATABASE);
  const reads = async (response: Response) => {
    assertEquals([response.status, response.headers.get("location")], [403, null]);
    assertStringIncludes(await response.text(), "<h1>This account is suspended</h1>");
  };
  const browser = pages.browser();
  await browser.post("/login", { email: "mira@example.com" });
  pages.provider.banned.add("mira@example.com");
  const mail = pages.provider.mails[0]!;
  await reads(await browser.post("/login", { action: "code", code: mail.code }));
  const link = new URL(mail.redirectTo);
  link.searchParams.set("token_hash", mail.tokenHash);
  link.searchParams.set("type", "email");
  await reads(await browser.post(link.pathname + link.search, {}));
  await reads(await browser.get("/auth/callback?error=access_denied&error_code=user_banned&next=%2Faccount"));
  assert(!browser.cookies.has("__Host-session"));
});
