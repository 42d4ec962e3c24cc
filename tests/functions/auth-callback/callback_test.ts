import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { withMailedAddress } from "../../../functions/auth-callback/sign_in/mailed_address.ts";
import { answering, type Browser, createPages, formsOf, NOW, type Pages, signIn } from "./harness.ts";

/** Path of the link in the newest mail, as the templates write it. */
function mailedPath(pages: Pages): string {
  const { redirectTo, tokenHash } = pages.provider.mails[0]!;
  const { pathname, search } = new URL(redirectTo);
  return `${pathname}${search}&token_hash=${tokenHash}&type=email`;
}

const ONBOARDED = answering({
  note_sign_in: { onboarded: true },
  read_onboarding: { onboarded: true, currencies: [] },
  claim_attempt: { outcome: "allowed" },
});

Deno.test("GET /auth/callback redirects to onboarding without a country, else to next, else to the account", async () => {
  const onboarding = answering({ note_sign_in: { onboarded: false }, claim_attempt: { outcome: "allowed" } });
  assertEquals((await signIn(createPages(onboarding), "a@example.com", "/x")).location, "/onboarding?next=%2Fx");
  assertEquals((await signIn(createPages(ONBOARDED), "a@example.com", "/x?y=1")).location, "/x?y=1");
  assertEquals((await signIn(createPages(ONBOARDED), "a@example.com")).location, "/account");
  assertEquals((await signIn(createPages(ONBOARDED), "a@example.com", "//evil.example")).location, "/account");
});

Deno.test("GET /auth/callback keeps the session when only the database is down", async () => {
  const down = {
    call: (name: string) =>
      name === "claim_attempt"
        ? Promise.resolve({ outcome: "allowed" } as never)
        : Promise.reject(new AppError("unavailable", "down")),
  };
  const { browser, location } = await signIn(createPages(down), "a@example.com", "/x");
  assertEquals(location, "/x");
  assert(browser.cookies.has("__Host-session"));
});

const verifiersOf = ({ cookies }: Browser) => [...cookies.keys()].filter((name) => name.endsWith("-code-verifier"));

Deno.test("code-verifier cookies end with the sign-in, even those of other pending ones, and are few until then", async () => {
  const pages = createPages(ONBOARDED, { authProviders: ["google"] });
  const startMany = async () => {
    const browser = pages.browser();
    for (let n = 0; n < 4; n++) await browser.post("/login", { action: "provider", provider: "google" });
    for (let n = 0; n < 6; n++) await browser.post("/login", { email: "a@example.com" });
    // At most five, one per sign-in; the newest once more; and their list.
    assertEquals(verifiersOf(browser).length, 7);
    // The state after two tabs start at the same moment, in which no list contains them.
    browser.cookies.set(`__Host-session-flow-${"0".repeat(32)}-code-verifier`, "base64-orphan");
    return browser;
  };
  const byCode = await startMany();
  await byCode.post("/login", { action: "code", code: pages.provider.mails[0]!.code });
  const byToken = await startMany();
  await byToken.post(mailedPath(pages), {});
  const byExchange = await startMany();
  const link = new URL(await pages.provider.follow(pages.provider.mails[0]!));
  await byExchange.get(link.pathname + link.search);
  for (const browser of [byCode, byToken, byExchange]) {
    assertEquals([...browser.cookies.keys()], ["__Host-session"]);
  }
});

Deno.test("GET /auth/callback explains why a sign-in failed, keeps next and never returns 500", async () => {
  const pages = createPages(ONBOARDED);
  const used = pages.browser();
  await used.post("/login?next=%2Fx", { email: "a@example.com" });
  const mail = pages.provider.mails[0]!;
  const first = new URL(await pages.provider.follow(mail));
  const second = new URL(await pages.provider.follow(mail));
  await used.get(first.pathname + first.search);

  const cases: [string, string, typeof used][] = [
    [second.pathname + second.search, "This link no longer works", used],
    [first.pathname + first.search, "This link doesn’t work here", used],
    [first.pathname + first.search, "This link doesn’t work here", pages.browser()],
    ["/auth/callback?next=%2Fx", "The sign-in didn’t finish", pages.browser()],
    ["/auth/callback?code=&next=%2Fx", "The sign-in didn’t finish", pages.browser()],
    ["/auth/callback?error=access_denied&next=%2Fx", "The sign-in was cancelled", pages.browser()],
    [
      "/auth/callback?error=server_error&error_code=unexpected_failure&error_description=%3Cb%3EPay%20here&next=%2Fx",
      "The sign-in didn’t finish",
      pages.browser(),
    ],
    ["/auth/callback?token_hash=abc&type=nonsense&next=%2Fx", "The sign-in didn’t finish", pages.browser()],
    // The requester would be signed in as the mail's recipient.
    ["/auth/callback?token_hash=abc&type=email_change&next=%2Fx", "The sign-in didn’t finish", pages.browser()],
  ];
  for (const [path, title, browser] of cases) {
    const response = await browser.get(path);
    const page = await response.text();
    assertEquals(response.status, 400, path);
    assertStringIncludes(page, `<h1>${title}</h1>`);
    assertStringIncludes(page, 'href="/login?next=%2Fx"');
    assert(!page.includes("Pay here"));
    assertStringIncludes(page, response.headers.get("x-request-id")!);
  }
});

Deno.test("GET /auth/callback refuses the code of a sign-in that another browser started", async () => {
  const pages = createPages(ONBOARDED);
  const [attacker, victim] = [pages.browser(), pages.browser()];
  await attacker.post("/login", { email: "attacker@example.com" });
  const link = new URL(await pages.provider.follow(pages.provider.mails[0]!));
  await victim.post("/login", { email: "victim@example.com" });
  link.searchParams.delete("sb_flow_id");
  const response = await victim.get(link.pathname + link.search);
  assertEquals(response.status, 400);
  assert(!victim.cookies.has("__Host-session"));
});

Deno.test("either of two pending sign-ins in one browser can finish, and the other's page then redirects", async () => {
  for (const first of [0, 1]) {
    const pages = createPages(ONBOARDED);
    const browser = pages.browser();
    for (const next of ["%2Fone", "%2Ftwo"]) await browser.post(`/login?next=${next}`, { email: "a@example.com" });
    const links = await Promise.all([...pages.provider.mails].reverse().map((mail) => pages.provider.follow(mail)));
    const open = ({ pathname, search }: URL) => browser.get(pathname + search);
    const paths = ["/one", "/two"];
    assertEquals((await open(new URL(links[first]!))).headers.get("location"), paths[first]);
    const late = await (await open(new URL(links[1 - first]!))).text();
    const href = `/login?next=${encodeURIComponent(paths[1 - first]!)}`;
    assertStringIncludes(late, `href="${href}"`);
    assertEquals((await browser.get(href)).headers.get("location"), paths[1 - first]);
  }
});

Deno.test("GET /auth/callback with a mailed token asks for confirmation, on any device, without using it up", async () => {
  const pages = createPages(ONBOARDED);
  await pages.browser().post("/login?next=%2Fx", { email: "a@example.com" });
  const path = mailedPath(pages);
  const otherDevice = pages.browser();
  await otherDevice.get(path);
  const before = pages.provider.requests.length;
  const page = await (await otherDevice.get(path)).text();
  assertEquals(pages.provider.requests.length, before);
  assertEquals(formsOf(page)[0]!.action, path);
  assertMatch(page, /<h1>Sign in as <bdi>a@example.com<\/bdi>/);
  assert(!page.includes("signed in here"));

  const response = await otherDevice.submit(page, "Sign in");
  assertEquals([response.status, response.headers.get("location")], [303, "/x"]);
  assert(otherDevice.cookies.has("__Host-session"));
  const again = await otherDevice.post(path, {});
  assertEquals(again.status, 400);
  assertStringIncludes(await again.text(), "This link no longer works");
  assertEquals((await otherDevice.post(path, {}, { "sec-fetch-site": "cross-site" })).status, 403);
});

Deno.test("a mailed link warns a signed-in person of the account that it switches to", async () => {
  const pages = createPages(ONBOARDED);
  const { browser: victim } = await signIn(pages, "victim@example.com");
  await pages.browser().post("/login", { email: "attacker@example.com" });
  const path = mailedPath(pages);
  const text = async (browser: typeof victim) =>
    (await (await browser.get(path)).text()).replaceAll(/<[^>]+>/g, "").replaceAll(/\s+/g, " ");
  assertStringIncludes(await text(victim), "Sign in as attacker@example.com");
  assertStringIncludes(await text(victim), "You’re signed in here as victim@example.com. This link signs you in");
  const { browser: attacker } = await signIn(pages, "attacker@example.com");
  await pages.browser().post("/login", { email: "attacker@example.com" });
  assert(!(await text(attacker)).includes("switches"));

  pages.provider.failure = () => Promise.resolve(new Response("upstream", { status: 502 }));
  assertStringIncludes(await text(victim), "Sign in as attacker@example.com");
});

Deno.test("a mailed link without a signed address signs in only the person who types its address", async () => {
  const pages = createPages(ONBOARDED);
  const { browser: victim } = await signIn(pages, "victim@example.com");
  const session = victim.cookies.get("__Host-session");
  const { codeSecrets } = pages.config;
  const address = "victim@example.com";
  const [forged, old] = await Promise.all([
    withMailedAddress({ codeSecrets: ["another secret"] }, "/x", { address, at: NOW }),
    withMailedAddress({ codeSecrets }, "/x", { address, at: new Date(NOW.getTime() - 3600_000) }),
  ]);
  for (const query of ["", forged.slice(3), old.slice(3), "for=x.y", "for="]) {
    await pages.browser().post("/login", { email: "attacker@example.com" });
    const path = `/auth/callback?${query}&token_hash=${pages.provider.mails[0]!.tokenHash}&type=email`;
    const page = await (await victim.get(path)).text();
    assertStringIncludes(page, "<h1>Whose link is this?</h1>");
    const refused = await victim.submit(page, "Sign in", { email: address });
    assertEquals([refused.status, refused.headers.getSetCookie()], [400, []]);
    assertStringIncludes(await refused.text(), "This link is for another address");
    assertEquals(pages.provider.requests.at(-1), "POST /auth/v1/logout");
  }
  assertEquals(victim.cookies.get("__Host-session"), session);

  await pages.browser().post("/login", { email: "a@example.com" });
  const path = `/auth/callback?token_hash=${pages.provider.mails[0]!.tokenHash}&type=email`;
  const own = pages.browser();
  const accepted = await own.submit(await (await own.get(path)).text(), "Sign in", { email: "A@example.com" });
  assertEquals([accepted.status, own.cookies.has("__Host-session")], [303, true]);
});

Deno.test("a form without an address on the page of a mailed link asks for it and leaves the link usable", async () => {
  const pages = createPages(ONBOARDED);
  await pages.browser().post("/login", { email: "attacker@example.com" });
  const path = `/auth/callback?token_hash=${pages.provider.mails[0]!.tokenHash}&type=email`;
  const victim = pages.browser();
  const before = pages.provider.requests.length;
  for (const fields of [{}, { email: "" }, { email: " " }] as Record<string, string>[]) {
    const response = await victim.post(path, fields);
    assertEquals([response.status, response.headers.getSetCookie()], [400, []]);
    const page = await response.text();
    assertStringIncludes(page, "<h1>Whose link is this?</h1>");
    assertStringIncludes(page, "Type the address that the link was sent to.");
  }
  assertEquals([pages.provider.requests.length, pages.provider.mails.length], [before, 1]);
});

Deno.test("a mailed link signs in only the address it names", async () => {
  const pages = createPages(ONBOARDED);
  await pages.browser().post("/login", { email: "one@example.com" });
  await pages.browser().post("/login", { email: "two@example.com" });
  const [two, one] = [...pages.provider.mails].map(({ redirectTo, tokenHash }) => ({
    url: new URL(redirectTo),
    tokenHash,
  }));
  const mixed = `/auth/callback${one!.url.search}&token_hash=${two!.tokenHash}&type=email`;
  const browser = pages.browser();
  const refused = await browser.submit(await (await browser.get(mixed)).text(), "Sign in");
  assertEquals([refused.status, browser.cookies.has("__Host-session")], [400, false]);
  await refused.body?.cancel();
});

Deno.test("GET /auth/callback returns 503 and keeps cookies when the identity provider is down", async () => {
  const pages = createPages(ONBOARDED);
  const browser = pages.browser();
  await browser.post("/login?next=%2Fx", { email: "a@example.com" });
  const link = new URL(await pages.provider.follow(pages.provider.mails[0]!));
  const cookies = new Map(browser.cookies);
  pages.provider.failure = () => Promise.resolve(new Response("upstream", { status: 502 }));
  const response = await browser.get(link.pathname + link.search);
  assertEquals([response.status, response.headers.getSetCookie()], [503, []]);
  assertEquals(browser.cookies, cookies);
  pages.provider.failure = undefined;
  assertEquals((await browser.get(link.pathname + link.search)).headers.get("location"), "/x");
});

Deno.test("GET /auth/callback reads no session when it does not need one", async () => {
  const pages = createPages(ONBOARDED);
  const { browser } = await signIn(pages, "a@example.com");
  const before = pages.provider.requests.length;
  await browser.get("/auth/callback");
  assertEquals(pages.provider.requests.length, before);
});
