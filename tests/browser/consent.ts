/**
 * `deno task suite browser`: consent in Chromium for each kind of client. Chromium applies the page's `form-action` to
 * the redirect after a form post (CSP3 §6.4.2), which only a browser test can show. The suite also tries each redirect
 * with `'self'` alone, where it must fail.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Browser, Page } from "playwright-core";
import { startStack, type TestStack } from "../_support/stack.ts";
import { createIssuer } from "../_support/tls.ts";
import { launchChromium } from "./chromium.ts";

let browser: Browser;
let stack: TestStack;

Deno.test.beforeAll(async () => {
  stack = await startStack({ args: ["--no-schedules"] });
  browser = await launchChromium();
});
Deno.test.afterAll(async () => {
  await browser.close();
  await stack?.stop();
});

// RFC 7636 appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

interface Client {
  redirectUri: string;
  /** The next URL of the client's callback, for clients that redirect again. */
  endsAt?: string;
  close(): Promise<void>;
}

/** The response of a client's own server: its callback links to another of its pages. */
const answer = (request: Request): Response =>
  new URL(request.url).pathname === "/callback"
    ? new Response(null, { status: 302, headers: { location: `/done${new URL(request.url).search}` } })
    : new Response("<h1>Connected</h1>", { headers: { "content-type": "text/html" } });

function listen(scheme: "http" | "https", host: string): Promise<Client> {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const server = scheme === "https"
    ? Deno.serve({ ...options, ...createIssuer().issue(host) }, answer)
    : Deno.serve(options, answer);
  const origin = `${scheme}://${host}:${server.addr.port}`;
  const close = () => server.shutdown();
  return Promise.resolve({ redirectUri: `${origin}/callback`, endsAt: `${origin}/done`, close });
}

const CLIENTS: Record<string, { start(): Promise<Client>; says: string }> = {
  "a loopback client": {
    start: () => listen("http", "127.0.0.1"),
    says: "send you back to an app on this computer (127.0.0.1)",
  },
  "an https client": {
    start: () => listen("https", "localhost"),
    says: "send you back to localhost",
  },
  "a client with its own scheme": {
    start: () =>
      Promise.resolve({ redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback", close: () => Promise.resolve() }),
    says: "Any app on this device can claim to be Cursor",
  },
};

async function register(redirectUri: string): Promise<string> {
  const response = await fetch(`${stack.site_url}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Cursor", redirect_uris: [redirectUri] }),
  });
  return (await response.json()).client_id;
}

/** Clicks a button of the consent page; returns the redirect's target and the browser's reports. */
async function decide(page: Page, name: "Allow" | "Deny"): Promise<{ location: URL; complaints: string[] }> {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  const [response] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === "POST"),
    page.getByRole("button", { name, exact: true }).click({ noWaitAfter: true }),
  ]);
  assertEquals(response.status(), 303);
  return { location: new URL((await response.allHeaders()).location!), complaints };
}

const isPolicy = (text: string) => /Content Security Policy|form-action/i.test(text);

/** Whether the browser reports a policy violation within this time. */
async function isStopped(page: Page, timeout: number): Promise<boolean> {
  return await page.waitForEvent("console", { predicate: (message) => isPolicy(message.text()), timeout })
    .then(() => true, () => false);
}

for (const [kind, { start, says }] of Object.entries(CLIENTS)) {
  Deno.test({
    name: `${kind} is connected, denied, and labeled correctly`,
    // Chromium's pipes open before the first test and close after the last.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const client = await start();
      const clientId = await register(client.redirectUri);
      const context = await browser.newContext({
        baseURL: stack.site_url,
        javaScriptEnabled: false,
        ignoreHTTPSErrors: true,
      });
      const query = new URLSearchParams({
        response_type: "code",
        client_id: clientId,
        redirect_uri: client.redirectUri,
        code_challenge: CHALLENGE,
        code_challenge_method: "S256",
        state: "opaque",
      });
      const open = async () => {
        const page = await context.newPage();
        await page.goto(`/api/oauth/authorize?${query}`);
        return page;
      };
      try {
        const login = await open();
        await login.getByRole("link", { name: `Sign in as ${stack.demo!.email}` }).click();
        await login.getByRole("button", { name: "Sign in" }).click();
        assertStringIncludes(await login.locator("main").innerText(), says);

        const denied = await decide(login, "Deny");
        assertEquals(denied.location.searchParams.get("error"), "access_denied");

        const page = await open();
        const { location, complaints } = await decide(page, "Allow");
        assert(location.href.startsWith(`${client.redirectUri}?`), location.href);
        assertEquals([location.searchParams.get("state"), location.searchParams.get("iss")], [
          "opaque",
          stack.site_url,
        ]);
        if (client.endsAt) {
          await page.waitForURL((url) => url.href.startsWith(client.endsAt!));
          assertEquals(await page.getByRole("heading").textContent(), "Connected");
        } else {
          assertEquals(await isStopped(page, 2_000), false);
        }
        assertEquals(complaints.filter(isPolicy), []);
        const exchanged = await fetch(`${stack.site_url}/api/oauth/token`, {
          method: "POST",
          body: new URLSearchParams({
            grant_type: "authorization_code",
            client_id: clientId,
            code: location.searchParams.get("code")!,
            code_verifier: VERIFIER,
            redirect_uri: client.redirectUri,
          }),
        });
        assertEquals(exchanged.status, 200, await exchanged.text());

        // Test of the test: without its entry in the policy, this redirect is blocked.
        await context.route("**/api/oauth/authorize?*", async (route) => {
          const response = await route.fetch();
          const policy = response.headers()["content-security-policy"]!.replace(
            /form-action [^;]+/,
            "form-action 'self'",
          );
          await route.fulfill({ response, headers: { ...response.headers(), "content-security-policy": policy } });
        });
        const strict = await open();
        const [isStrict] = await Promise.all([
          isStopped(strict, 15_000),
          strict.getByRole("button", { name: "Allow", exact: true }).click({ noWaitAfter: true }),
        ]);
        assertEquals(isStrict, true);
      } finally {
        await context.close();
        await client.close();
      }
    },
  });
}
