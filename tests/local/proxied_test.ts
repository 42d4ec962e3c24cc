/** The embedded stack behind a hop that rewrites `Host`, like nginx by default: nobody outside reaches the mailbox. */
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { startMailSink } from "../../local/mail/smtp_sink.ts";
import { findForm, FormBrowser } from "../../local/form_browser.ts";
import { startStack } from "../_support/stack.ts";
import { runStart } from "../_support/start_command.ts";

/** The headers that hops add; the last hop adds none. */
const HOPS: Record<string, Record<string, string>> = {
  "a proxy that adds X-Forwarded-For": { "x-forwarded-for": "203.0.113.9" },
  "a proxy that adds nothing": {},
};

/** A reverse proxy in front of a port. Its requests name 127.0.0.1 as the host, whatever host the visitor requested. */
function openHop(to: string, added: Record<string, string>) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers([...request.headers, ...Object.entries(added)]);
    headers.delete("host");
    const { method } = request;
    const body = ["GET", "HEAD"].includes(method) ? undefined : await request.arrayBuffer();
    return await fetch(to + pathname + search, { method, headers, ...body && { body }, redirect: "manual" });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, [Symbol.asyncDispose]: () => server.shutdown() };
}

const ask = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, { redirect: "manual", ...init });
  return { status: response.status, text: await response.text() };
};
const MOVE = { method: "POST", body: JSON.stringify({ now: "2030-01-01T00:00:00Z" }) };

const stack = await startStack({ args: ["--no-schedules"] });
Deno.test.afterAll(async () => void await stack.stop());
const { origin, pathname: secret } = new URL(stack.local_url!);

for (const [name, added] of Object.entries(HOPS)) {
  Deno.test(`a stranger reads no mail and moves no clock through ${name}`, async () => {
    await using hop = openHop(stack.site_url, added);
    for (const path of ["/local", secret]) {
      for (const page of ["/mail", "/sign-in", "/providers/github/x"]) {
        assertEquals((await ask(`${hop.url}${path}${page}`)).status, 404, path + page);
      }
      assertEquals((await ask(`${hop.url}${path}/clock`, MOVE)).status, 404);
      assertEquals(JSON.parse((await ask(`${stack.local_url}/clock`)).text).offset_ms, 0);
    }
    // The page's link to a port that the hop doesn't reach would be useless, but forwarded callers must not get it at
    // all.
    const login = await ask(`${hop.url}/login`, { headers: { "x-direct": "1" } });
    assertEquals([login.status, login.text.includes(secret)], [200, added["x-forwarded-for"] === undefined]);
  });

  Deno.test(`a stranger reads no mail and moves no clock through ${name}, even in front of the local port itself`, async () => {
    await using hop = openHop(origin, added);
    assertEquals((await ask(`${hop.url}/mail`)).status, added["x-forwarded-for"] ? 403 : 404);
    if (added["x-forwarded-for"]) {
      assertEquals((await ask(`${hop.url}${secret}/mail`)).status, 403);
      assertEquals((await ask(`${hop.url}${secret}/clock`, MOVE)).status, 403);
      assertEquals(JSON.parse((await ask(`${stack.local_url}/clock`)).text).offset_ms, 0);
    }
  });
}

Deno.test("a stack with a public address requires a mail service, sends sign-in mails with it, and has no mailbox", async () => {
  const args = ["--no-schedules", "--site-url", "https://expenses.test", "--accept-public-risk"];
  const folder = await Deno.makeTempDir();
  const refused = await runStart("--port", "0", "--data", folder, ...args);
  assertEquals([refused.code, refused.stderr], [
    1,
    "Cannot start: MAIL_URL is not set, and a stack with a public address shows no mailbox\n",
  ]);
  await Deno.remove(folder, { recursive: true });

  const mails = await startMailSink();
  const env = { MAIL_URL: `smtp://127.0.0.1:${mails.port}`, MAIL_FROM: "Expenses <expenses@expenses.test>" };
  const stack = await startStack({ args, env });
  try {
    assertEquals([stack.local_url, stack.mail_url], [null, null]);
    assertEquals(stack.stand_ins.map(({ name }) => name).includes("Mail"), false);
    for (const [name, added] of Object.entries(HOPS)) {
      await using hop = openHop(stack.supabase_url, added);
      const browser = new FormBrowser(hop.url);
      const login = await browser.open("/login");
      assertFalse(/mailbox|sign in as/i.test(login.html.replaceAll(/<style.*?<\/style>/gs, "")));
      await browser.submit(login, findForm(login), { fill: { email: stack.demo!.email } });
      assertEquals((await ask(`${hop.url}/local/mail`)).status, 404);
      assertEquals((await ask(`${hop.url}/local/clock`, MOVE)).status, 404);
      const [mail] = mails.list(stack.demo!.email);
      assert(mail, `the mail left by the mail service, behind ${name}`);
      assertEquals(mail!.from, "expenses@expenses.test");
      assertMatch(mail!.html ?? "", /https:\/\/expenses\.test\/auth\/callback|\/auth\/v1\/verify/);
      mails.clear();
    }
  } finally {
    await stack.stop();
    await mails.close();
  }
});
