import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { type Browser, createPages, NOW, over, type Pages, signIn } from "./harness.ts";

const database = await sharedDatabase();

const statuses = (responses: Response[]) => responses.map(({ status }) => status);

/** Pages on an empty database, and a way to request a mail at a second of the hour. */
async function fresh(rateLimits: "on" | Record<string, number> = "on") {
  await database.reset();
  const pages = createPages(over(database), { rateLimits });
  const ask = async (second: number, email: string, ip?: string) => {
    pages.clock.now = new Date(NOW.getTime() + second * 1000);
    return await pages.browser().post("/login", { email }, ip ? { "x-forwarded-for": ip } : {});
  };
  return { pages, ask };
}

Deno.test("an address gets five sign-in mails an hour, half a minute apart, whatever its case", async () => {
  const { pages, ask } = await fresh();
  const first = [
    await ask(0, "mira@example.com"),
    await ask(29, "MIRA@example.com"),
    await ask(30, "Mira@Example.com"),
  ];
  assertEquals(statuses(first), [303, 429, 303]);
  assertEquals(first[1]!.headers.get("retry-after"), "1");
  const rest = [];
  for (const second of [60, 90, 120, 150, 3599]) rest.push(await ask(second, "mira@example.com"));
  assertEquals(statuses(rest), [303, 303, 303, 429, 429]);
  assertEquals(rest[3]!.headers.get("retry-after"), "3450");
  assertEquals(statuses([await ask(3600, "mira@example.com"), await ask(3600, "other@example.com")]), [303, 303]);
  assertEquals(pages.provider.mails.length, 7);
});

Deno.test("an IP gets twenty mails an hour, not counting refused requests", async () => {
  const { ask } = await fresh();
  for (let n = 0; n < 20; n++) assertEquals((await ask(n, `p${n}@example.com`, "192.0.2.1")).status, 303);
  for (let n = 0; n < 6; n++) assertEquals((await ask(30, "victim@example.com", "192.0.2.1")).status, 429);
  assertEquals((await ask(30, "victim@example.com", "192.0.2.2")).status, 303);
});

Deno.test("an invented forwarded address neither evades a limit nor uses up another one", async () => {
  const { pages } = await fresh({ login_mail_ip: 2, login_mail_address: 1_000_000 });
  const ask = async (forwarded: string, n: number) =>
    (await pages.browser().post("/login", { email: `p${n}@example.com` }, { "x-forwarded-for": forwarded })).status;
  const forged = [];
  for (let n = 0; n < 5; n++) forged.push(await ask(`192.0.2.${n}, 203.0.113.9`, n));
  assertEquals(forged, [303, 303, 429, 429, 429]);
  assertEquals(await ask("192.0.2.1", 50), 303);
  assertEquals(await ask("192.0.2.1, 203.0.113.10", 51), 303);
});

Deno.test("networks that use up their mails don't affect others behind the same front door", async () => {
  await database.reset();
  const secret = "the-front-door-has-this-one-of-32-bytes";
  const pages = createPages(over(database), { rateLimits: { login_mail_ip: 2 }, frontDoorSecrets: [secret] });
  const ask = async (ip: string, email: string) =>
    (await pages.browser().post("/login", { email }, {
      "x-forwarded-for": `${ip}, 203.0.113.9`,
      "x-front-door-secret": secret,
    })).status;
  const attacker = [];
  for (let n = 0; n < 40; n++) attacker.push(await ask(`2001:db8:1:${n}::1`, `p${n}@example.com`));
  assertEquals(attacker, [...Array(16).fill(303), ...Array(24).fill(429)]);
  assertEquals(await ask("198.51.101.9", "victim@example.com"), 303);
});

Deno.test("limits hold under concurrent requests", async () => {
  const { ask } = await fresh();
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(0, "mira@example.com")));
  assertEquals(statuses(answers).sort(), [303, ...Array(7).fill(429)]);
});

Deno.test("limits follow RATE_LIMITS by name", async () => {
  const { ask } = await fresh({ login_mail_address: 1 });
  assertEquals(statuses([await ask(0, "mira@example.com"), await ask(60, "mira@example.com")]), [303, 429]);
});

const guess = (browser: Browser) => browser.post("/login", { action: "code", code: "0000000" });

Deno.test("five codes may be tried per mail, even concurrently", async () => {
  const { pages } = await fresh();
  const browser = pages.browser();
  await browser.post("/login", { email: "mira@example.com" });
  const tries = await Promise.all(Array.from({ length: 8 }, () => guess(browser)));
  assertEquals(statuses(tries).sort(), [...Array(5).fill(400), 429, 429, 429]);
  pages.clock.now = new Date(NOW.getTime() + 30_000);
  await browser.post("/login", { email: "mira@example.com" });
  assertEquals((await guess(browser)).status, 400);
});

Deno.test("a stranger's guesses block nobody else's code entry, even with a forged cookie", async () => {
  const { pages } = await fresh();
  const victim = pages.browser();
  await victim.post("/login", { email: "mira@example.com" });
  const { code } = pages.provider.mails[0]!;

  const forger = pages.browser();
  const [body] = victim.cookies.get("__Host-sign-in")!.split(".");
  for (
    const cookie of ["mira@example.com", encodeURIComponent("mira@example.com"), body!, `${body}.${"A".repeat(43)}`]
  ) {
    forger.cookies.set("__Host-sign-in", cookie);
    for (let n = 0; n < 12; n++) {
      const answer = await (await guess(forger)).text();
      assert(answer.includes("<h1>Sign in</h1>") && !answer.includes("mira@"), cookie);
    }
  }
  // A mail to that address allows one guess, only at the requester's own sign-in.
  const stranger = pages.browser();
  pages.clock.now = new Date(NOW.getTime() + 30_000);
  await stranger.post("/login", { email: "mira@example.com" });
  const guesses = [];
  for (let n = 0; n < 12; n++) guesses.push(await guess(stranger));
  assertEquals(statuses(guesses), [...Array(5).fill(400), ...Array(7).fill(429)]);
  assertEquals((await victim.post("/login", { action: "code", code })).headers.get("location"), "/onboarding");
});

Deno.test("a pending sign-in is forgotten after an hour", async () => {
  const { pages } = await fresh();
  const browser = pages.browser();
  await browser.post("/login", { email: "mira@example.com" });
  pages.clock.now = new Date(NOW.getTime() + 3_600_000);
  assert((await (await guess(browser)).text()).includes("<h1>Sign in</h1>"));
});

// The identity provider allows a burst of 30 per IP address, and all requests come from our address.
const STRANGER = { "x-forwarded-for": "192.0.2.1" };
const OTHER = { "x-forwarded-for": "192.0.2.2" };

/** The responses to forty requests of a stranger, and the last page. */
async function flood(send: (browser: Browser, n: number) => Promise<Response>, pages: Pages) {
  const answers = [];
  for (let n = 0; n < 40; n++) answers.push(await send(pages.browser(), n));
  return { statuses: statuses(answers), last: /class="lead">([^<]*)/.exec(await answers.at(-1)!.text())?.[1] };
}

const JUNK: Record<string, (browser: Browser, n: number) => Promise<Response>> = {
  "mailed links": (browser, n) =>
    browser.post(`/auth/callback?token_hash=junk${n}&type=email`, { email: "x@example.com" }, STRANGER),
  "links to confirm an address": (browser, n) =>
    browser.post(`/account/email/confirm?token_hash=junk${n}&type=email_change`, {}, STRANGER),
  "codes of other services": (browser, n) => {
    browser.cookies.set("__Host-session-code-verifier", "base64-" + btoa('"forged"'));
    return browser.get(`/auth/callback?code=junk${n}`, STRANGER);
  },
};

for (const [what, send] of Object.entries(JUNK)) {
  Deno.test(`a stranger who endlessly tries ${what} doesn't keep others from signing in`, async () => {
    const { pages } = await fresh();
    const victim = pages.browser();
    await victim.post("/login", { email: "mira@example.com" }, OTHER);
    const { redirectTo, tokenHash } = pages.provider.mails[0]!;
    for (const path of ["verify", "token"]) pages.provider.room.set(`/auth/v1/${path}`, 30);
    const stranger = await flood(send, pages);
    assertEquals(stranger.statuses, [...Array(20).fill(400), ...Array(20).fill(429)]);
    assertEquals(stranger.last, "Too many attempts. Try again in 60 seconds.");

    const { pathname, search } = new URL(redirectTo);
    const opened = await victim.post(`${pathname}${search}&token_hash=${tokenHash}&type=email`, {}, OTHER);
    assertEquals(opened.headers.get("location"), "/onboarding");
    // A refused attempt isn't counted: a minute later, one more is allowed.
    pages.clock.now = new Date(NOW.getTime() + 60_000);
    assertEquals((await send(pages.browser(), 40)).status, 400);
  });
}

Deno.test("invented expired sessions do not block other people's refreshes", async () => {
  const { pages } = await fresh();
  pages.provider.expiresIn = -60;
  const { browser: victim } = await signIn(pages, "mira@example.com");
  pages.provider.expiresIn = 3600;
  pages.provider.room.set("/auth/v1/token", 30);
  const forge = (n: number) => {
    const session = { access_token: "a.b.c", refresh_token: `junk${n}`, expires_at: 1, user: { id: "1" } };
    return `base64-${btoa(JSON.stringify(session))}`;
  };
  const stranger = await flood((browser, n) => {
    browser.cookies.set("__Host-session", forge(n));
    return browser.get("/account", STRANGER);
  }, pages);
  assertEquals(stranger.statuses, [...Array(20).fill(303), ...Array(20).fill(429)]);
  assertEquals(stranger.last, "Too many attempts. Try again in 3 seconds.");
  const ended = await flood((browser, n) => {
    browser.cookies.set("__Host-session", forge(n + 40));
    return browser.post("/logout", {}, STRANGER);
  }, pages);
  assertEquals(ended.statuses, Array(40).fill(303));
  assertEquals(pages.provider.room.get("/auth/v1/token"), 10);
  assertEquals((await victim.get("/account", OTHER)).headers.get("location"), "/onboarding?next=%2Faccount");
  assertEquals(pages.provider.room.get("/auth/v1/token"), 9);
});

Deno.test("a refused refresh keeps the session, which works again when the limit allows", async () => {
  const { pages } = await fresh({ session_refresh_ip: 1 });
  pages.provider.expiresIn = -60;
  const { browser } = await signIn(pages, "mira@example.com");
  assertEquals((await browser.get("/account", OTHER)).status, 303);
  const before = new Map(browser.cookies);
  assertEquals((await browser.get("/account", OTHER)).status, 429);
  assertEquals(browser.cookies, before);
  pages.clock.now = new Date(NOW.getTime() + 60_000);
  assertEquals((await browser.get("/account", OTHER)).headers.get("location"), "/onboarding?next=%2Faccount");
});

Deno.test("a session counts as an attempt only when it is refreshed", async () => {
  await database.reset();
  const calls: string[] = [];
  const counted = over(database);
  const pages = createPages({ call: (name, args) => (calls.push(name), counted.call(name, args)) });
  pages.provider.expiresIn = -60;
  const { browser } = await signIn(pages, "mira@example.com");
  pages.provider.expiresIn = 3600;
  calls.length = 0;
  await browser.get("/login");
  assertEquals(calls, ["claim_attempt"]);
  await browser.get("/login");
  assertEquals(calls, ["claim_attempt"]);
});

Deno.test("addresses and IPs are counted only under keyed hashes", async () => {
  const { ask } = await fresh();
  await ask(0, "mira@example.com", "2001:db8::1");
  const rows = await database.query<{ key: string }>(
    "select key_hash as key from identity.attempts union all select key from oauth.rate_buckets",
  );
  assertEquals(rows.map(({ key }) => /^(login_mail_ip:)?[\w-]{43}$/.test(key)), [true, true, true]);
});
