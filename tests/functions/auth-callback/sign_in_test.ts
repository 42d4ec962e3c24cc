import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Config } from "../../../shared/config.ts";
import { DIRECT_HEADER } from "../../../shared/routes.ts";
import { withAskingApp } from "../../../shared/oauth/asking_app.ts";
import { answering, createPages, formsOf, NOW, signIn } from "./harness.ts";

const ONBOARDED = answering({
  note_sign_in: { onboarded: true },
  read_onboarding: { onboarded: true, currencies: [] },
  claim_attempt: { outcome: "allowed" },
});
const NEW = answering({
  note_sign_in: { onboarded: false },
  read_onboarding: { onboarded: false, currencies: [] },
  claim_attempt: { outcome: "allowed" },
});

Deno.test("GET /login shows the e-mail form first, and providers only when configured", async () => {
  const plain = await (await createPages(ONBOARDED).browser().get("/login")).text();
  assertMatch(plain, /<form[^>]*action="\/login"[^>]*>.*?type="email"/s);
  assert(!plain.includes("Continue with"));
  const pages = createPages(ONBOARDED, { authProviders: ["github"] });
  const response = await pages.browser().get("/login?next=%2Faccount");
  const page = await response.text();
  assertStringIncludes(page, "Continue with GitHub");
  assertStringIncludes(
    response.headers.get("content-security-policy")!,
    "form-action 'self' https://project.example https:",
  );
});

Deno.test("the sign-in pages lead to the embedded stack's mailbox only when the request came straight from its machine", async () => {
  const local = { localUrl: "http://127.0.0.1:7401/secret", demoEmail: "demo@example.com" };
  const show = async (config: Partial<Config>, headers: Record<string, string>) => {
    const browser = createPages(ONBOARDED, config).browser();
    const login = await (await browser.get("/login?next=%2Faccount", headers)).text();
    const form = formsOf(login).find(({ fields }) => "email" in fields)!;
    await browser.post("/login", { ...form.fields, email: "a@example.com" });
    return [login, await (await browser.get("/login?sent=1", headers)).text()];
  };
  const [login, sent] = await show(local, { [DIRECT_HEADER]: "1" });
  assertStringIncludes(
    login!,
    'href="http://127.0.0.1:7401/secret/sign-in?next=%2Faccount">Sign in as demo@example.com',
  );
  assertStringIncludes(login!, 'href="http://127.0.0.1:7401/secret/mail"');
  assertStringIncludes(sent!, 'href="http://127.0.0.1:7401/secret/mail?to=a%40example.com"');
  for (const page of [...await show(local, {}), ...await show({}, { [DIRECT_HEADER]: "1" })]) {
    assert(!page.includes("7401") && !page.includes("demo@example.com") && !page.includes("mailbox"));
  }
});

Deno.test("GET /login names the app that sent the person, only from a signed value", async () => {
  const pages = createPages(ONBOARDED);
  const shown = async (next: string) =>
    (await (await pages.browser().get(`/login?next=${encodeURIComponent(next)}`)).text()).replaceAll(/<[^>]+>/g, "");
  const { codeSecrets } = pages.config;
  const request = "/api/oauth/authorize?client_id=a";
  const asked = await withAskingApp(codeSecrets, request, { name: "Claude <b>", at: NOW });
  assertStringIncludes(await shown(asked), "An app that calls itself Claude &lt;b&gt; sent you here.");

  const forged = await withAskingApp(["another secret"], request, { name: "Your bank", at: NOW });
  const old = await withAskingApp(codeSecrets, request, { name: "Claude", at: new Date(NOW.getTime() - 3600_000) });
  for (const next of [request, forged, old, `${request}&asked_by=`, "/account"]) {
    assert(!(await shown(next)).includes("sent you here"), next);
  }
});

Deno.test("GET / redirects to the account with a session, otherwise to the sign-in page", async () => {
  const pages = createPages(ONBOARDED);
  const { browser } = await signIn(pages, "mira@example.com");
  const before = pages.provider.requests.length;
  const known = await (await browser.get("/")).text();
  assert(known.includes('href="/account"') && !known.includes("Sign in or sign up"));
  const stranger = await (await pages.browser().get("/")).text();
  assert(stranger.includes('href="/login"') && !stranger.includes("Your account"));
  assertEquals(pages.provider.requests.length, before);
});

Deno.test("POST /login mails a link that signs in and leads to next", async () => {
  const pages = createPages(ONBOARDED);
  const browser = pages.browser();
  const sent = await browser.post("/login?next=%2Faccount%3Fa%3D1", { email: "mira@example.com" });
  assertEquals([sent.status, sent.headers.get("location")], [303, "/login?sent=1&next=%2Faccount%3Fa%3D1"]);
  const mail = pages.provider.mails[0]!;
  assertStringIncludes(mail.redirectTo, "https://expenses.example/auth/callback?next=%2Faccount%3Fa%3D1&for=");
  const waiting = await (await browser.get(sent.headers.get("location")!)).text();
  assertStringIncludes(waiting, "mira@example.com");
  assertStringIncludes(waiting, "Open it on this device");

  const link = new URL(await pages.provider.follow(mail));
  const response = await browser.get(link.pathname + link.search);
  assertEquals([response.status, response.headers.get("location")], [303, "/account?a=1"]);
  assertEquals([...browser.cookies.keys()], ["__Host-session"]);
});

Deno.test("cookies are HttpOnly, Lax, host-bound on https and short-lived for verifiers", async () => {
  const response = await createPages(ONBOARDED).browser().post("/login", { email: "a@example.com" });
  const cookies = response.headers.getSetCookie();
  assert(cookies.length >= 3);
  for (const cookie of cookies) {
    assertMatch(cookie, /^__Host-(session|sign-in)/);
    assertMatch(cookie, /; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  }
  const local = createPages(ONBOARDED, { siteUrl: "http://127.0.0.1:54321" });
  const { browser } = await signIn(local, "a@example.com");
  assertEquals([...browser.cookies.keys()], ["session"]);
});

Deno.test("POST /login responds alike to known, unknown and refused addresses", async () => {
  const pages = createPages(ONBOARDED);
  pages.provider.user("known@example.com");
  const answers = [];
  for (const email of ["known@example.com", "unknown@example.com"]) {
    const response = await pages.browser().post("/login", { email });
    answers.push([response.status, response.headers.get("location"), await response.text()]);
  }
  pages.provider.failure = () =>
    Promise.resolve(
      Response.json({ error_code: "signup_disabled", msg: "no" }, {
        status: 422,
        headers: { "x-supabase-api-version": "2024-01-01" },
      }),
    );
  const response = await pages.browser().post("/login", { email: "refused@example.com" });
  answers.push([response.status, response.headers.get("location"), await response.text()]);
  assertEquals(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
});

Deno.test("POST /login reports that no mail can be sent, instead of claiming that one was", async () => {
  const pages = createPages(ONBOARDED);
  const refusals: [number, Record<string, string>][] = [
    [400, { code: "email_address_not_authorized", msg: "Email address cannot be used as it is not authorized" }],
    [422, { code: "email_provider_disabled", msg: "Email logins are disabled" }],
    [500, { code: "unexpected_failure", msg: "Error sending confirmation email" }],
  ];
  for (const [status, body] of refusals) {
    const headers = { "x-supabase-api-version": "2024-01-01" };
    pages.provider.failure = () => Promise.resolve(Response.json(body, { status, headers }));
    const browser = pages.browser();
    const response = await browser.post("/login", { email: "mira@example.com" });
    assertEquals([response.status, response.headers.get("retry-after")], [503, "60"]);
    assertStringIncludes(await response.text(), "We couldn’t send email right now. Try again in a few minutes.");
    assert(!browser.cookies.has("__Host-sign-in"));
  }
});

Deno.test("POST /login explains an invalid address and sends nothing", async () => {
  const pages = createPages(ONBOARDED);
  for (
    const email of ["", "mira", "mira@", "a b@example.com", "a@b", "<x>@example.com", `${"a".repeat(250)}@example.com`]
  ) {
    const response = await pages.browser().post("/login", { email });
    assertEquals(response.status, 400, email);
    assertStringIncludes(await response.text(), "not an email address");
  }
  assertEquals(pages.provider.mails, []);
});

Deno.test("POST /login accepts the six-digit code, even with a space, and refuses a wrong one", async () => {
  const pages = createPages(NEW);
  const browser = pages.browser();
  await browser.post("/login?next=%2Fx", { email: "mira@example.com" });
  const { code } = pages.provider.mails[0]!;
  const wrong = await browser.post("/login?next=%2Fx", {
    action: "code",
    code: code === "000000" ? "000001" : "000000",
  });
  assertEquals(wrong.status, 400);
  assertStringIncludes(await wrong.text(), "That code is wrong");
  assertEquals((await browser.post("/login", { action: "code", code: "12" })).status, 400);
  const right = await browser.post("/login?next=%2Fx", {
    action: "code",
    code: `${code.slice(0, 3)} ${code.slice(3)}`,
  });
  assertEquals([right.status, right.headers.get("location")], [303, "/onboarding?next=%2Fx"]);
  assert(browser.cookies.has("__Host-session"));
});

Deno.test("POST /login is limited by address and IP, with the same message for everybody", async () => {
  const pages = createPages(answering({ claim_attempt: { outcome: "limited", retry_after: 700 } }));
  const response = await pages.browser().post("/login?next=%2Fx", { email: "mira@example.com" });
  assertEquals([response.status, response.headers.get("retry-after")], [429, "700"]);
  const page = await response.text();
  assertStringIncludes(page, "Too many attempts. Try again in 12 minutes.");
  assertStringIncludes(page, 'href="/login?next=%2Fx"');
  assertEquals(pages.provider.mails, []);
  const unlimited = createPages(answering({}), { rateLimits: "off" });
  assertEquals((await unlimited.browser().post("/login", { email: "mira@example.com" })).status, 303);
});

Deno.test("POST /login sends people to a configured provider with a verifier, and to no other", async () => {
  const pages = createPages(ONBOARDED, { authProviders: ["google"] });
  const browser = pages.browser();
  const response = await browser.post("/login?next=%2Fx", { action: "provider", provider: "google" });
  const target = new URL(response.headers.get("location")!);
  assertEquals([response.status, target.origin, target.pathname], [
    303,
    "https://project.example",
    "/auth/v1/authorize",
  ]);
  assertEquals(target.searchParams.get("code_challenge_method"), "s256");
  assertStringIncludes(target.searchParams.get("redirect_to")!, "https://expenses.example/auth/callback?next=%2Fx");
  assert([...browser.cookies.keys()].some((name) => name.endsWith("-code-verifier")));
  assertEquals((await browser.post("/login", { action: "provider", provider: "github" })).status, 400);
});

Deno.test("pages that take forms refuse other sites, other types and large bodies", async () => {
  const browser = createPages(ONBOARDED).browser();
  const fields = { email: "a@example.com" };
  for (
    const headers of [{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }, {
      "sec-fetch-site": "none",
    }]
  ) {
    assertEquals((await browser.post("/login", fields, headers)).status, 403);
  }
  assertEquals(
    (await browser.post("/login", fields, { "sec-fetch-site": "", "origin": "https://evil.example" })).status,
    403,
  );
  assertEquals(
    (await browser.post("/login", fields, { "sec-fetch-site": "", "origin": "https://expenses.example" })).status,
    303,
  );
  assertEquals((await browser.post("/login", fields, { "content-type": "application/json" })).status, 415);
  assertEquals((await browser.post("/login", { email: "a".repeat(20_000) })).status, 413);
});

Deno.test("GET /login redirects a signed-in person to next", async () => {
  const pages = createPages(ONBOARDED);
  const { browser } = await signIn(pages, "mira@example.com");
  for (
    const [path, location] of [["/login", "/account"], ["/login?next=%2Fx", "/x"], [
      "/login?next=%2F%2Fevil.example",
      "/account",
    ]]
  ) {
    assertEquals((await browser.get(path!)).headers.get("location"), location);
  }
});

Deno.test("POST /logout ends the session here and at the identity provider, and here when that is down", async () => {
  const pages = createPages(ONBOARDED);
  const { browser } = await signIn(pages, "mira@example.com");
  const response = await browser.post("/logout", { next: "/api/oauth/authorize?a=b" });
  assertEquals([response.status, response.headers.get("location")], [
    303,
    "/login?next=%2Fapi%2Foauth%2Fauthorize%3Fa%3Db",
  ]);
  assert(!browser.cookies.has("__Host-session"));
  assert(pages.provider.requests.includes("POST /auth/v1/logout"));

  const again = await signIn(pages, "mira@example.com");
  pages.provider.failure = () => Promise.reject(new TypeError("connection refused"));
  assertEquals((await again.browser.post("/logout", {})).headers.get("location"), "/");
  assert(!again.browser.cookies.has("__Host-session"));
  assertEquals((await again.browser.get("/logout")).status, 405);
});
