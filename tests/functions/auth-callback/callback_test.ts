import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { answering, createPages, formsOf, signIn } from "./harness.ts";

const ONBOARDED = answering({
  read_onboarding: { onboarded: true, currencies: [] },
  claim_attempt: { outcome: "allowed" },
});

Deno.test("GET /auth/callback leads to onboarding without a country, else to next, else to the account", async () => {
  const onboarding = answering({ read_onboarding: { onboarded: false }, claim_attempt: { outcome: "allowed" } });
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

Deno.test("GET /auth/callback leaves no verifier behind", async () => {
  const { browser } = await signIn(createPages(ONBOARDED), "a@example.com");
  assertEquals([...browser.cookies.keys()].filter((name) => name.includes("verifier")), []);
});

Deno.test("GET /auth/callback says in words why a sign-in failed, keeps next and never answers 500", async () => {
  const pages = createPages(ONBOARDED);
  const used = pages.browser();
  await used.post("/login?next=%2Fx", { email: "a@example.com" });
  const mail = pages.provider.mails[0]!;
  const first = new URL(await pages.provider.follow(mail));
  const second = new URL(await pages.provider.follow(mail));
  await used.get(first.pathname + first.search);

  const cases: [string, string, typeof used][] = [
    [second.pathname + second.search, "This link no longer works", used],
    [first.pathname + first.search, "This link does not work here", used],
    [first.pathname + first.search, "This link does not work here", pages.browser()],
    ["/auth/callback?next=%2Fx", "The sign-in did not finish", pages.browser()],
    ["/auth/callback?code=&next=%2Fx", "The sign-in did not finish", pages.browser()],
    ["/auth/callback?error=access_denied&next=%2Fx", "The sign-in was cancelled", pages.browser()],
    [
      "/auth/callback?error=server_error&error_code=unexpected_failure&error_description=%3Cb%3EPay%20here&next=%2Fx",
      "The sign-in did not finish",
      pages.browser(),
    ],
    ["/auth/callback?token_hash=abc&type=nonsense&next=%2Fx", "The sign-in did not finish", pages.browser()],
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

Deno.test("two sign-ins under way in one browser both finish", async () => {
  const pages = createPages(ONBOARDED);
  const browser = pages.browser();
  await browser.post("/login?next=%2Fone", { email: "a@example.com" });
  await browser.post("/login?next=%2Ftwo", { email: "a@example.com" });
  const [two, one] = [...pages.provider.mails];
  for (const [mail, location] of [[one!, "/one"], [two!, "/two"]] as const) {
    const link = new URL(await pages.provider.follow(mail));
    assertEquals((await browser.get(link.pathname + link.search)).headers.get("location"), location);
  }
});

Deno.test("GET /auth/callback with a mailed token asks for one press, on any device, and does not use it up", async () => {
  const pages = createPages(ONBOARDED);
  await pages.browser().post("/login", { email: "a@example.com" });
  const { tokenHash } = pages.provider.mails[0]!;
  const path = `/auth/callback?next=%2Fx&token_hash=${tokenHash}&type=email`;
  const otherDevice = pages.browser();
  await otherDevice.get(path);
  const before = pages.provider.requests.length;
  const page = await (await otherDevice.get(path)).text();
  assertEquals(pages.provider.requests.length, before);
  assertEquals(formsOf(page)[0]!.action, path);

  const response = await otherDevice.submit(page, "Sign in");
  assertEquals([response.status, response.headers.get("location")], [303, "/x"]);
  assert(otherDevice.cookies.has("__Host-session"));
  const again = await otherDevice.post(path, {});
  assertEquals(again.status, 400);
  assertStringIncludes(await again.text(), "This link no longer works");
  assertEquals((await otherDevice.post(path, {}, { "sec-fetch-site": "cross-site" })).status, 403);
});

Deno.test("GET /auth/callback answers 503 and keeps cookies when the identity provider is down", async () => {
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

Deno.test("GET /auth/callback reads no session", async () => {
  const pages = createPages(ONBOARDED);
  const { browser } = await signIn(pages, "a@example.com");
  const before = pages.provider.requests.length;
  await browser.get("/auth/callback");
  assertEquals(pages.provider.requests.length, before);
});
