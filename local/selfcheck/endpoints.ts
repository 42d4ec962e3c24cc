/** The endpoints: allowed methods, CORS, and the response to a request that cannot succeed. */
import type { Slug } from "../../shared/routes.ts";
import { SCHEMA_VERSION } from "../../shared/schema_version.ts";
import { type Check, describe, note, objectOf, type Site, wrong } from "./check.ts";

interface Endpoint {
  slug: Slug;
  path: string;
  /** A method it refuses. */
  refuses: string;
  /** A method that it lists in `Allow`. */
  takes: string;
  /** Whether pages of other origins may call it. */
  isOpen: boolean;
}

const ENDPOINTS: readonly Endpoint[] = [
  { slug: "mcp", path: "/api/mcp", refuses: "PATCH", takes: "POST", isOpen: true },
  { slug: "oauth", path: "/.well-known/oauth-authorization-server", refuses: "POST", takes: "GET", isOpen: true },
  { slug: "oauth", path: "/api/oauth/token", refuses: "GET", takes: "POST", isOpen: true },
  { slug: "oauth", path: "/api/oauth/register", refuses: "GET", takes: "POST", isOpen: true },
  { slug: "oauth", path: "/api/oauth/revoke", refuses: "GET", takes: "POST", isOpen: true },
  { slug: "oauth", path: "/api/oauth/authorize", refuses: "PUT", takes: "POST", isOpen: false },
  { slug: "payment-webhook", path: "/api/payment/webhook", refuses: "GET", takes: "POST", isOpen: false },
  { slug: "cron-reminders", path: "/api/cron/reminders", refuses: "POST", takes: "GET", isOpen: false },
  { slug: "cron-provider-sync", path: "/api/cron/provider-sync", refuses: "POST", takes: "GET", isOpen: false },
];

const endpointsOf = (site: Site) => ENDPOINTS.filter(({ slug }) => site.slugs.includes(slug));

export const methods: Check = async function* (site) {
  for (const { path, refuses, takes } of endpointsOf(site)) {
    const answer = await site.ask(path, { method: refuses });
    if (answer.status !== 405) yield wrong(`${refuses} ${path} answers ${describe(answer)} instead of 405`);
    else if (!answer.headers.get("allow")?.includes(takes)) {
      yield wrong(`${refuses} ${path} does not list the allowed methods`);
    }
  }
};

/** Browser clients send a preflight first (Fetch §4.8), which carries no token and must not require one. */
export const preflights: Check = async function* (site) {
  const wanted = ["authorization", "content-type", "mcp-protocol-version"];
  for (const { path, takes, isOpen } of endpointsOf(site)) {
    const answer = await site.ask(path, {
      method: "OPTIONS",
      headers: {
        "origin": "https://selfcheck.invalid",
        "access-control-request-method": takes,
        "access-control-request-headers": wanted.join(", "),
      },
    });
    const allowed = answer.headers.get("access-control-allow-origin");
    if (!isOpen) {
      if (allowed !== null) {
        yield wrong(`${path} lets pages of other sites read it (Access-Control-Allow-Origin: ${allowed})`);
      }
      continue;
    }
    const headers = (answer.headers.get("access-control-allow-headers") ?? "").toLowerCase();
    const missing = wanted.filter((name) => !headers.includes(name));
    if (answer.status >= 300) yield wrong(`A preflight of ${path} answers ${describe(answer)}`);
    else if (allowed !== "*") yield wrong(`A preflight of ${path} allows no origin`);
    else if (missing.length > 0) yield wrong(`A preflight of ${path} does not allow ${missing.join(", ")}`);
  }
};

export const health: Check = async function* (site) {
  if (!site.slugs.includes("oauth")) return;
  const answer = await site.ask("/api/health");
  const { ok, schema } = objectOf(answer) ?? {};
  if (answer.status !== 200 || ok !== true) {
    yield wrong(`/api/health answers ${describe(answer)}: the functions cannot reach the database`);
  } else if (typeof schema !== "number") {
    yield wrong(
      "/api/health names no schema version: deploy the functions of this checkout (supabase functions deploy)",
    );
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

/** Errors that clients act on; they also show that the migrations are applied. */
export const tokenEndpoint: Check = async function* (site) {
  if (!site.slugs.includes("oauth")) return;
  const unknown = new URLSearchParams({
    grant_type: "refresh_token",
    client_id: "client_selfcheck",
    refresh_token: `exp_rt_${"x".repeat(43)}`,
  });
  const refused = await site.ask("/api/oauth/token", { method: "POST", body: unknown });
  if (refused.status >= 500) {
    yield wrong(`/api/oauth/token fails with ${refused.status}: are the migrations applied (supabase db push)?`);
  } else if (refused.status !== 401 || objectOf(refused)?.error !== "invalid_client") {
    yield wrong(`/api/oauth/token answers an unknown client with ${describe(refused)} instead of 401 invalid_client`);
  } else if (!refused.headers.get("cache-control")?.includes("no-store")) {
    yield wrong("/api/oauth/token may be cached: something removed Cache-Control: no-store");
  }
  const json = await site.ask("/api/oauth/token", {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  if (json.status !== 400) yield wrong(`/api/oauth/token answers JSON with ${describe(json)} instead of 400`);
};

/** Without its secret the webhook refuses everything, and the payment provider stops sending after a day. */
export const webhook: Check = async function* (site) {
  if (!site.slugs.includes("payment-webhook")) return;
  const answer = await site.ask("/api/payment/webhook", { method: "POST", body: "{}" });
  if (answer.status === 503) yield wrong("/api/payment/webhook accepts no events: set PAYMENT_WEBHOOK_SECRET");
  else if (answer.status !== 401) {
    yield wrong(`/api/payment/webhook answers an event without a signature with ${describe(answer)} instead of 401`);
  }
};

/** The jobs reject callers without their secret. */
export const jobs: Check = async function* (site) {
  for (const { slug, path } of endpointsOf(site)) {
    if (!slug.startsWith("cron-")) continue;
    const answer = await site.ask(path);
    if (answer.status !== 401) {
      yield wrong(`${path} answers a caller without the secret with ${describe(answer)} instead of 401`);
    }
  }
};
