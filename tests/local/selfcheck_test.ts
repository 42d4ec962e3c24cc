/** The self-check finds no fault in the embedded stack, and finds each planted fault. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createSite, type Line } from "../../local/selfcheck/check.ts";
import { checkDeployment } from "../../local/selfcheck/run.ts";
import { transport } from "../../local/selfcheck/outside.ts";
import { ROUTES, SLUGS } from "../../shared/routes.ts";
import { SCHEMA_VERSION } from "../../shared/schema_version.ts";
import { builtFunctions } from "../edge/questions.ts";
import { startStack } from "../_support/stack.ts";

const ROOT = new URL("../../", import.meta.url);
const stack = await startStack({ args: ["--no-demo", "--no-schedules"] });
Deno.test.afterAll(() => stack.stop().then(() => {}));
const SITE = stack.site_url;
const built: readonly string[] = await builtFunctions(ROOT);
const slugs = SLUGS.filter((slug) => built.includes(slug));

/** A fault between the functions and the outside. */
type Fault = (request: Request, ask: () => Promise<Response>) => Promise<Response>;

async function findings(fault: Fault = (_request, ask) => ask()): Promise<string[]> {
  const site = createSite({
    url: SITE,
    functionsUrl: stack.functions_url,
    slugs,
    fetch: (request) => fault(request, () => fetch(request.clone())),
  });
  return faultsIn(await Array.fromAsync(checkDeployment(site)));
}

const faultsIn = (lines: Line[]) => lines.filter(({ kind }) => kind === "wrong").map(({ text }) => text);
const pathOf = ({ url }: Request) => new URL(url).pathname;
const slugOf = (request: Request) => ROUTES.find(({ path }) => path === pathOf(request))?.slug;

/** The same response with one change. */
async function changed(
  ask: () => Promise<Response>,
  { status, headers = {}, text = (same) => same }: {
    status?: number;
    headers?: Record<string, string | null>;
    text?: (text: string) => string;
  },
): Promise<Response> {
  const answer = await ask();
  const all = new Headers(answer.headers);
  for (const [name, value] of Object.entries(headers)) value === null ? all.delete(name) : all.set(name, value);
  const body = text(await answer.text());
  return new Response(body || null, { status: status ?? answer.status, headers: all });
}

/** Changes the responses to some requests. */
const where =
  (isMeant: (request: Request) => boolean, change: Parameters<typeof changed>[1]): Fault => (request, ask) =>
    isMeant(request) ? changed(ask, change) : ask();
/** Responds to some requests without the functions. */
const instead = (isMeant: (request: Request) => boolean, answer: () => Response): Fault => (request, ask) =>
  isMeant(request) ? Promise.resolve(answer()) : ask();

const isWellKnown = (request: Request) => pathOf(request).includes("/.well-known/");
const isPageRoute = (request: Request) => ROUTES.some(({ path, page }) => page && path === pathOf(request));
const at = (path: string, method = "") => (request: Request) =>
  pathOf(request) === path && (!method || request.method === method);

const isForm = ({ headers }: Request) => headers.get("content-type")?.startsWith("application/x-www-form-urlencoded");

Deno.test("a healthy deployment prints no line", async () => {
  assertEquals(await findings(), []);
});

/** Each fault with its expected report, which has only a few lines. */
const FAULTS: Record<string, { fault: Fault; told: RegExp; lines?: number }> = {
  "the gateway's token check is on": {
    fault: instead(
      (request) => slugOf(request) === "mcp",
      () =>
        Response.json({ code: "UNAUTHORIZED_NO_AUTH_HEADER", message: "Missing authorization header" }, {
          status: 401,
        }),
    ),
    told: /POST \/api\/mcp: the gateway requires a platform token .* verify_jwt = false/,
  },
  "a function was not deployed": {
    fault: instead(
      (request) => slugOf(request) === "payment-webhook",
      () => Response.json({ code: "NOT_FOUND", message: "Requested function was not found" }, { status: 404 }),
    ),
    told: /the function payment-webhook is not deployed/,
  },
  "a function does not start": {
    fault: instead(
      (request) => slugOf(request) === "oauth",
      () => Response.json({ code: "BOOT_ERROR", message: "Worker failed to boot" }, { status: 503 }),
    ),
    told: /oauth does not start \(503 BOOT_ERROR\); its log names/,
  },
  "HTML is rewritten to plain text": {
    fault: where(isPageRoute, {
      headers: { "content-type": "text/plain", "content-security-policy": "default-src 'none'; sandbox" },
    }),
    told: /HTML does not arrive as HTML at .*\/login.*front door/,
  },
  "pages are sandboxed": {
    fault: where(isPageRoute, { headers: { "content-security-policy": "default-src 'none'; sandbox" } }),
    told: /HTML does not arrive as HTML/,
  },
  "the policy of pages gets lost": {
    fault: where(at("/login"), { headers: { "content-security-policy": null } }),
    told: /\/login may be framed by other sites/,
  },
  "pages lead to another host": {
    fault: where(at("/account"), { headers: { location: "https://ref.supabase.co/functions/v1/auth-callback/login" } }),
    told: /\/account leads to another host, https:\/\/ref\.supabase\.co/,
  },
  "the site names another host as its own": {
    fault: (request, ask) =>
      isWellKnown(request) ? changed(ask, { text: (text) => text.replaceAll(SITE, "https://old.example") }) : ask(),
    told: /The issuer is https:\/\/old\.example, not http:\/\/127\.0\.0\.1:\d+; set NEXT_PUBLIC_SITE_URL/,
    lines: 5,
  },
  "one discovery address is not routed": {
    fault: instead(at("/.well-known/openid-configuration/api/mcp"), () => new Response("Not found", { status: 404 })),
    told: /^\/\.well-known\/openid-configuration\/api\/mcp answers 404 \(text\/plain\) instead of a JSON document/,
  },
  "one discovery address returns another document": {
    fault: where(at("/.well-known/openid-configuration"), { text: (text) => text.replace("S256", "plain") }),
    told: /^\/\.well-known\/openid-configuration differs from \//,
  },
  "documents cannot be read by browsers": {
    fault: where(at("/.well-known/oauth-protected-resource"), { headers: { "access-control-allow-origin": null } }),
    told: /^\/\.well-known\/oauth-protected-resource cannot be read by clients in a browser/,
  },
  "the connector names another resource": {
    fault: where((request) => pathOf(request).includes("oauth-protected-resource"), {
      text: (text) => text.replace("/api/mcp", "/mcp"),
    }),
    told: /The connector calls itself .*\/mcp, not .*\/api\/mcp/,
  },
  "addresses follow the forwarded host": {
    fault: (request, ask) => {
      const host = request.headers.get("x-forwarded-host");
      return host ? changed(ask, { text: (text) => text.replaceAll(SITE, `http://${host}`) }) : ask();
    },
    told: /X-Forwarded-Host changes/,
  },
  "a proxy removes WWW-Authenticate": {
    fault: where(at("/api/mcp"), { headers: { "www-authenticate": null } }),
    told: /\/api\/mcp without a token has no WWW-Authenticate/,
    lines: 3,
  },
  "the challenge points elsewhere": {
    fault: where(at("/api/mcp", "POST"), {
      headers: {
        "www-authenticate": 'Bearer realm="mcp", resource_metadata="http://kong:8000/x", scope="expenses:rw"',
      },
    }),
    told: /\/api\/mcp without a token names the document http:\/\/kong:8000\/x instead of/,
    lines: 3,
  },
  "preflights need a token": {
    fault: instead((request) => request.method === "OPTIONS", () => new Response("Unauthorized", { status: 401 })),
    told: /A preflight of \/api\/mcp answers 401/,
    lines: 5,
  },
  "every path is a page": {
    fault: (request, ask) =>
      ask().then((answer) =>
        answer.status === 404 && !isPageRoute(request)
          ? new Response("<!doctype html><title>App</title>", { headers: { "content-type": "text/html" } })
          : answer
      ),
    told: /^\/\.well-known\/selfcheck, which should not exist, answers 200 \(text\/html\) instead of 404/,
    lines: 3,
  },
  "the database is down": {
    fault: where(at("/api/health"), { status: 503, text: () => '{"ok":false}' }),
    told: /\/api\/health answers 503 .*: the functions cannot reach the database/,
  },
  "the database is a version behind the code": {
    fault: where(at("/api/health"), { text: () => JSON.stringify({ ok: true, schema: SCHEMA_VERSION - 1 }) }),
    told: new RegExp(
      `^The database has schema ${
        SCHEMA_VERSION - 1
      }, and this version needs ${SCHEMA_VERSION}: back up, then run deno task deploy`,
    ),
  },
  "the functions predate schema versions": {
    fault: where(at("/api/health"), { text: () => '{"ok":true}' }),
    told: /^\/api\/health names no schema version: deploy the functions/,
  },
  "the migrations are missing": {
    fault: where((request) => at("/api/oauth/token", "POST")(request) && isForm(request) === true, {
      status: 500,
      text: () => '{"error":"server_error"}',
    }),
    told: /\/api\/oauth\/token fails with 500: are the migrations applied/,
  },
  "answers of the token endpoint may be cached": {
    fault: where(at("/api/oauth/token"), { headers: { "cache-control": "public, max-age=60" } }),
    told: /\/api\/oauth\/token may be cached/,
  },
  "the webhook has no secret": {
    fault: where(at("/api/payment/webhook", "POST"), { status: 503 }),
    told: /\/api\/payment\/webhook accepts no events: set PAYMENT_WEBHOOK_SECRET/,
  },
  "the inbound mail endpoint accepts mail from anybody": {
    fault: where(at("/api/mail/inbound", "POST"), { status: 200 }),
    told: /\/api\/mail\/inbound answers a request without a secret with 200/,
  },
};

for (const [what, { fault, told, lines = 1 }] of Object.entries(FAULTS)) {
  Deno.test(`a fault is found: ${what}`, async () => {
    const found = await findings(fault);
    assert(found.some((text) => told.test(text)), `${told} is not among\n${found.join("\n")}`);
    assert(found.length <= lines, found.join("\n"));
    assert(found.every((text) => !text.includes("\n")));
  });
}

Deno.test("a database ahead of the code, as after a rollback, is a note, not a fault", async () => {
  const fault = where(at("/api/health"), { text: () => JSON.stringify({ ok: true, schema: SCHEMA_VERSION + 1 }) });
  const site = createSite({ url: SITE, slugs, fetch: (request) => fault(request, () => fetch(request.clone())) });
  const lines = await Array.fromAsync(checkDeployment(site));
  assertEquals(faultsIn(lines), []);
  assert(lines.some(({ text }) => text.startsWith(`The database has schema ${SCHEMA_VERSION + 1}, newer than`)));
});

Deno.test("an unreachable site causes one line", async () => {
  const found = await findings(() => Promise.reject(new TypeError("error sending request: certificate has expired")));
  assertEquals(found, ["/api/mcp does not respond (error sending request: certificate has expired)"]);
});

async function transportOf(url: string, plain: () => Response, hsts?: string): Promise<Line[]> {
  const site = createSite({
    url,
    slugs: [],
    fetch: (request) =>
      Promise.resolve(
        request.url.startsWith("http:")
          ? plain()
          : new Response("", { headers: hsts ? { "strict-transport-security": hsts } : {} }),
      ),
  });
  return await Array.fromAsync(transport(site));
}

Deno.test("transport requires https and HSTS", async () => {
  const away = () => new Response(null, { status: 301, headers: { location: "https://site.example/login" } });
  assertEquals(await transportOf("https://site.example", away, "max-age=63072000; includeSubDomains"), []);
  assertEquals((await transportOf("https://site.example", away)).map(({ kind }) => kind), ["note"]);
  assertEquals((await transportOf("https://site.example", away, "max-age=60")).map(({ kind }) => kind), ["note"]);
  const [open] = await transportOf("https://site.example", () => new Response("x"), "max-age=63072000");
  assertMatch(open!.text, /http:\/\/site\.example\/login answers 200 .* instead of redirecting to https/);
  const [plain] = await transportOf("http://site.example", away);
  assertMatch(plain!.text, /is not https/);
  assertEquals(await transportOf("http://127.0.0.1:8000", away), []);
});

async function selfcheck(...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "selfcheck", "--", ...args],
    cwd: ROOT.pathname,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("deno task selfcheck exits with 0 for the embedded stack, 1 for a fault, 2 without a site", async () => {
  const good = await selfcheck(SITE, "--functions", stack.functions_url);
  assertEquals([good.code, good.stderr], [0, ""]);
  assertMatch(good.stdout, /^(note: .*\n)+.* is fine\.\n$/);
  assertMatch(good.stdout, /^note: The length of keys /m);
  assertMatch(good.stdout, /^note: Vault, schedule, clocks and mail weren't checked: /m);

  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, `CRON_SECRET=${stack.cron_secret}\n`);
  const inside = await selfcheck(SITE, "--env-file", path, "--mail", "mira@example.com");
  await Deno.remove(path);
  assertEquals([inside.code, inside.stderr], [0, ""], inside.stdout);
  assertMatch(inside.stdout, /^note: Job reminders: never succeeded yet$/m);
  assertMatch(inside.stdout, /^note: Mail: one is on its way to mira@example\.com/m);
  const forgotten = await selfcheck(SITE, "--mail", "mira@example.com");
  assertEquals(forgotten.code, 1);
  assertMatch(forgotten.stderr, /need --env-file/);

  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("It works!"));
  const bad = await selfcheck(`http://127.0.0.1:${server.addr.port}/`);
  await server.shutdown();
  assertEquals(bad.code, 1);
  assertMatch(bad.stdout, /^wrong: POST \/api\/mcp: something other than mcp answers with 200/);
  assertMatch(bad.stdout, new RegExp(`: \\d+ faults\\.\\n$`));
  for (const line of bad.stdout.trimEnd().split("\n").slice(0, -1)) assertMatch(line, /^(wrong|note): /);

  for (const args of [[], ["not a url"], [SITE, SITE]]) {
    const unsure = await selfcheck(...args);
    assertEquals([unsure.code, unsure.stdout], [2, ""]);
    assertMatch(unsure.stderr, / task selfcheck -- https:/);
  }
});
