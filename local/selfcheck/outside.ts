/** Public checks of a deployment: requests and responses must pass unchanged between clients and functions. */
import { PAGE_POLICY_HEADER, ROUTES, type Slug } from "../../shared/routes.ts";
import { SCHEMA_VERSION } from "../../shared/schema_version.ts";
import { LANGUAGES } from "../../shared/words/page_words.ts";
import { type Answer, type Check, describe, type Line, note, type Site, wrong } from "./check.ts";

/** A request without side effects for each function. */
const PROBES: Record<Slug, readonly [method: string, path: string]> = {
  "mcp": ["POST", "/api/mcp"],
  "oauth": ["POST", "/api/oauth/token"],
  "payment-webhook": ["POST", "/api/payment/webhook"],
  "auth-callback": ["GET", "/login"],
  "cron-reminders": ["GET", "/api/cron/reminders"],
  "cron-provider-sync": ["GET", "/api/cron/provider-sync"],
  "inbound-mail": ["POST", "/api/mail/inbound"],
};

/**
 * The functions that respond themselves, which a request id shows; for missing ones, the platform's gateway responds.
 */
export async function askFunctions(site: Site): Promise<{ answering: Slug[]; lines: Line[] }> {
  const answering: Slug[] = [];
  const lines: Line[] = [];
  for (const slug of site.slugs) {
    const [method, path] = PROBES[slug];
    const answer = await site.ask(path, { method });
    if (answer.headers.has("x-request-id")) answering.push(slug);
    else lines.push(wrong(`${method} ${path}: ${whoAnswered(slug, answer)}`));
  }
  return { answering, lines };
}

function whoAnswered(slug: Slug, { status, json: { code } }: Answer): string {
  if (status === 401) {
    return `the gateway requires a platform token before ${slug} is reached; deploy it with verify_jwt = false (supabase/config.toml)`;
  }
  if (code === "NOT_FOUND") return `the function ${slug} is not deployed`;
  if (status < 500) return `something other than ${slug} answers with ${status}; does the front door route it there?`;
  const reason = code ? ` ${code}` : "";
  return `${slug} does not start (${status}${reason}); its log names every missing or malformed setting`;
}

const HALF_A_YEAR = 15_552_000;

export const transport: Check = async function* (site) {
  const { protocol, host, hostname } = new URL(site.url);
  if (protocol !== "https:") {
    const isLoopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
    if (!isLoopback) yield wrong(`${site.url} is not https: codes and tokens would cross the network in the clear`);
    return;
  }
  const { headers } = await site.ask("/login");
  const [, seconds = "0"] = /max-age=(\d+)/.exec(headers.get("strict-transport-security") ?? "") ?? [];
  if (Number(seconds) < HALF_A_YEAR) {
    yield note("No Strict-Transport-Security of half a year or more: a first visit by http can be intercepted");
  }
  // A closed port 80 is as safe as a redirect.
  const plain = await site.ask(`http://${host}/login`).catch(() => undefined);
  if (plain && plain.status < 400 && !plain.headers.get("location")?.startsWith("https://")) {
    yield wrong(`http://${host}/login answers ${describe(plain)} instead of redirecting to https`);
  }
};

export const health: Check = async function* (site) {
  const answer = await site.ask("/api/health");
  const { ok, schema } = answer.json;
  if (answer.status !== 200 || ok !== true) {
    yield wrong(`/api/health answers ${describe(answer)}: the functions cannot reach the database`);
  } else if (typeof schema !== "number") {
    yield wrong("/api/health names no schema version: deploy the functions of this checkout (deno task deploy)");
  } else if (schema < SCHEMA_VERSION) {
    yield wrong(
      `The database has schema ${schema}, and this version needs ${SCHEMA_VERSION}: back up, then run deno task deploy`,
    );
  } else if (schema > SCHEMA_VERSION) {
    yield note(
      `The database has schema ${schema}, newer than the ${SCHEMA_VERSION} of this checkout: fine after a rollback, ` +
        `else check with the version that is deployed`,
    );
  }
};

/** The authorization server's documents (RFC 8414 §2); a forwarded host must not change where they send codes. */
export const authorizationServer: Check = async function* (site) {
  const [first, ...lines] = await readDocuments(site, "oauth");
  yield* lines;
  if (!first) return;
  const { issuer } = first.answer.json;
  if (issuer !== site.url) {
    yield wrong(`The issuer is ${issuer}, not ${site.url}; set NEXT_PUBLIC_SITE_URL to the address people use`);
  }
  const forged = { "x-forwarded-host": "selfcheck.invalid", "forwarded": "host=selfcheck.invalid" };
  const told = await site.ask(first.path, { headers: forged });
  if (told.text !== first.answer.text) yield wrong("X-Forwarded-Host changes the authorization server's document");
};

/** The connector's documents (RFC 9728 §2), and its challenges, from which clients learn where to sign in. */
export const connector: Check = async function* (site) {
  const [first, ...lines] = await readDocuments(site, "mcp");
  yield* lines;
  if (first) yield* judgeResource(site, first.answer, `${site.url}/api/mcp`);
  yield* challenges(site, "/api/mcp", `${site.url}/api/mcp`);
  if (!site.functionsUrl) return;
  // Clients may also use the function's own URL.
  const direct = `${site.functionsUrl}/mcp`;
  yield* challenges(site, direct, direct);
  yield* judgeResource(site, await site.ask(`${direct}/.well-known/oauth-protected-resource`), direct);
};

function* judgeResource({ url }: Site, { json }: Answer, resource: string): Iterable<Line> {
  if (json.resource !== resource) {
    yield wrong(`The connector calls itself ${json.resource}, not ${resource}: clients would refuse its tokens`);
  }
  const servers = JSON.stringify(json.authorization_servers);
  if (servers !== JSON.stringify([url])) yield wrong(`The connector at ${resource} sends clients to ${servers}`);
}

/** The first valid document of a function, and a finding for each URL with no document or a different one. */
async function readDocuments(
  site: Site,
  slug: Slug,
): Promise<[{ path: string; answer: Answer } | undefined, ...Line[]]> {
  const lines: Line[] = [];
  let first: { path: string; answer: Answer } | undefined;
  for (const { path } of ROUTES.filter((route) => route.slug === slug && route.path.includes("/.well-known/"))) {
    const answer = await site.ask(path, { headers: { "mcp-protocol-version": "2025-11-25" } });
    if (answer.status !== 200 || Object.keys(answer.json).length === 0) {
      lines.push(wrong(`${path} answers ${describe(answer)} instead of a JSON document`));
      continue;
    }
    if (answer.headers.get("access-control-allow-origin") !== "*") {
      lines.push(wrong(`${path} cannot be read by clients in a browser: no Access-Control-Allow-Origin`));
    }
    first ??= { path, answer };
    if (answer.text !== first.answer.text) lines.push(wrong(`${path} differs from ${first.path}`));
  }
  return [first, ...lines];
}

async function* challenges(site: Site, address: string, resource: string): AsyncIterable<Line> {
  const metadata = `${resource}/.well-known/oauth-protected-resource`;
  for (const [what, token, error] of [["without a", "", undefined], ["with a bad", "exp_at_x", "invalid_token"]]) {
    const { status, headers } = await site.ask(address, {
      method: "POST",
      headers: { "content-type": "application/json", ...token && { authorization: `Bearer ${token}` } },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    const [, parameters = ""] = /^Bearer (.+)$/.exec(headers.get("www-authenticate") ?? "") ?? [];
    const named = Object.fromEntries(
      [...parameters.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    const where = `${address} ${what} token`;
    if (status !== 401) yield wrong(`${where} answers ${status} instead of 401`);
    else if (!parameters) yield wrong(`${where} has no WWW-Authenticate: clients cannot find where to sign in`);
    else if (named.resource_metadata !== metadata) {
      yield wrong(`${where} names the document ${named.resource_metadata ?? "of nothing"} instead of ${metadata}`);
    } else if (named.error !== error) yield wrong(`${where} reports ${named.error} instead of ${error}`);
    else if (!/www-authenticate/i.test(headers.get("access-control-expose-headers") ?? "")) {
      yield wrong(`${where}: clients in a browser cannot read WWW-Authenticate (CORS)`);
    }
  }
}

/** Browser clients send a preflight first (Fetch §4.8), which carries no token and must not require one. */
export const preflights: Check = async function* (site) {
  const wanted = "authorization, content-type, mcp-protocol-version";
  for (const slug of ["mcp", "oauth"] as const) {
    if (!site.slugs.includes(slug)) continue;
    const [, path] = PROBES[slug];
    const answer = await site.ask(path, {
      method: "OPTIONS",
      headers: {
        "origin": "https://selfcheck.invalid",
        "access-control-request-method": "POST",
        "access-control-request-headers": wanted,
      },
    });
    const allowed = (answer.headers.get("access-control-allow-headers") ?? "").toLowerCase();
    if (answer.status >= 300) yield wrong(`A preflight of ${path} answers ${describe(answer)}`);
    else if (answer.headers.get("access-control-allow-origin") !== "*") {
      yield wrong(`A preflight of ${path} allows no origin`);
    } else if (!wanted.split(", ").every((name) => allowed.includes(name))) {
      yield wrong(`A preflight of ${path} does not allow all of ${wanted}`);
    }
  }
};

/** Our own policies, unless the site links to others. */
export const policies: Check = async function* (site) {
  const { json } = await site.ask("/.well-known/oauth-authorization-server");
  for (const [path, linked] of [["/privacy", json.op_policy_uri], ["/terms", json.op_tos_uri]] as const) {
    if (linked !== undefined && linked !== site.url + path) continue;
    const answer = await site.ask(path);
    if (answer.status !== 200) yield wrong(`${path} answers ${describe(answer)}`);
    else if (answer.text.includes(LANGUAGES.en.pages.policies.template)) {
      yield note(`${path} is a template: set OPERATOR_NAME, OPERATOR_CONTACT and OPERATOR_COUNTRY, or link your own`);
    }
  }
};

/** A site that returns a page for every path breaks discovery, because clients continue only after a 404. */
export const unknownAddresses: Check = async function* (site) {
  for (const path of ["/.well-known/selfcheck", "/api/selfcheck"]) {
    const answer = await site.ask(path);
    if (answer.status !== 404) {
      yield wrong(`${path}, which should not exist, answers ${describe(answer)} instead of 404`);
    }
  }
};

/** The migrations, and the webhook's secret. Without the secret, the payment provider stops sending after a day. */
export const refusals: Check = async function* (site) {
  if (site.slugs.includes("oauth")) {
    const body = new URLSearchParams({
      grant_type: "refresh_token",
      client_id: "client_selfcheck",
      refresh_token: "x",
    });
    const { status, headers } = await site.ask("/api/oauth/token", { method: "POST", body });
    if (status >= 500) yield wrong(`/api/oauth/token fails with ${status}: are the migrations applied?`);
    else if (!headers.get("cache-control")?.includes("no-store")) {
      yield wrong("/api/oauth/token may be cached: something removed Cache-Control: no-store");
    }
  }
  if (site.slugs.includes("payment-webhook")) {
    const { status } = await site.ask("/api/payment/webhook", { method: "POST", body: "{}" });
    if (status === 503) yield wrong("/api/payment/webhook accepts no events: set PAYMENT_WEBHOOK_SECRET");
    else if (status !== 401) yield wrong(`/api/payment/webhook answers an event without a signature with ${status}`);
  }
  if (site.slugs.includes("inbound-mail")) {
    const { status } = await site.ask("/api/mail/inbound", { method: "POST", body: "{}" });
    if (status === 503) {
      yield note("/api/mail/inbound receives no mail: set INBOUND_URL, if people should forward theirs");
    } else if (status !== 401) yield wrong(`/api/mail/inbound answers a request without a secret with ${status}`);
  }
};

/** Whether pages arrive as pages, because hosted functions cannot serve HTML on the platform's own domain. */
export const pages: Check = async function* (site) {
  const rewritten: string[] = [];
  for (const { path, slug, page } of ROUTES) {
    if (!page || !site.slugs.includes(slug) || (path !== "/" && path.endsWith("/"))) continue;
    const answer = await site.ask(path);
    const policy = answer.headers.get("content-security-policy") ?? "";
    const isMarkup = /^\s*<!doctype html/i.test(answer.text);
    const isPage = isMarkup && /^text\/html\b/i.test(answer.headers.get("content-type") ?? "");
    const location = answer.headers.get("location");
    if (isMarkup && (!isPage || /\bsandbox\b/.test(policy))) rewritten.push(path);
    else if (location) {
      const { origin } = new URL(location, site.url);
      if (origin !== site.url) yield wrong(`${path} leads to another host, ${origin}; check NEXT_PUBLIC_SITE_URL`);
    } else if (!isPage) yield wrong(`${path} answers ${describe(answer)} instead of a page`);
    else if (answer.headers.has(PAGE_POLICY_HEADER)) {
      yield wrong(`${path} still carries ${PAGE_POLICY_HEADER}: the front door is an old one`);
    } else if (!policy.includes("frame-ancestors 'none'")) {
      yield wrong(`${path} may be framed by other sites: its Content-Security-Policy was lost on the way`);
    } else if (answer.headers.has("access-control-allow-origin")) {
      yield wrong(`${path} may be read by pages of other sites (CORS)`);
    }
  }
  if (rewritten.length > 0) {
    yield wrong(
      `HTML does not arrive as HTML at ${rewritten.join(", ")}: people see source text; put the front door before ` +
        "the functions (deno task operate front-door), or a custom domain",
    );
  }
};
