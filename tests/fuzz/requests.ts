/**
 * Requests to every route of the service, on each of its paths: method, query, headers and body are right or wrong
 * independently.
 */
import fc from "fast-check";
import { ROUTES } from "../../shared/routes.ts";
import { hostileText, mostly } from "./texts.ts";

/** The claimed origin of a request. */
export type Credential = "none" | "session" | "token" | "cron" | "garbage";

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  credential: Credential;
  body?: string;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get", "FOO"];

const BELOW_ACCOUNT = [
  "/account/disconnect",
  "/account/providers/connect",
  "/account/providers/connected",
  "/account/providers/remove",
  "/account/reminder-email",
  "/account/nothing-here",
];
const ADDRESSES = ROUTES.flatMap(({ path, slug }) => [path, `/functions/v1/${slug}`, `/functions/v1/${slug}${path}`])
  .concat(BELOW_ACCOUNT);

const PARAMETERS = [
  ...["client_id", "redirect_uri", "code_challenge", "code_challenge_method", "response_type", "state", "resource"],
  ...["scope", "prompt", "code", "code_verifier", "grant_type", "refresh_token", "token", "token_hash", "type", "next"],
  ...["email", "action", "organization_id", "form_token", "country", "timezone", "base_currency", "error", "t", "for"],
  ...["period", "secret", "provider", "bill", "link", "id", "name", "kind", "error_description"],
];
const VALUES = [
  ...["authorization_code", "refresh_token", "approve", "deny", "S256", "plain", "code", "none", "consent", "email"],
  ...[
    "magiclink",
    "signup",
    "DE",
    "EUR",
    "Europe/Berlin",
    "/account",
    "//evil.example",
    "2026-09",
    "openai",
    "http_json",
  ],
  ...["http://127.0.0.1:33418/callback", "https://client.example/callback", "someone@example.com", "a".repeat(43)],
];

const pairs = fc.array(fc.tuple(mostly(fc.constantFrom(...PARAMETERS)), mostly(fc.constantFrom(...VALUES))), {
  maxLength: 6,
});

// The query is escaped; in the path only characters that a URL cannot contain.
const path = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...ADDRESSES) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...ADDRESSES), hostileText).map(([base, more]) => `${base}/${more}`),
  },
  { weight: 1, arbitrary: hostileText.map((text) => `/${text}`) },
);
const address = fc.tuple(path, pairs).map(([path, query]) => {
  const escaped = path.slice(0, 2000).toWellFormed().split("/").map(encodeURIComponent).join("/");
  // Beyond 64 KB the client itself refuses to send it.
  const short = query.map(([name, value]) => [name.slice(0, 2000), value.slice(0, 2000)]);
  return query.length > 0 ? `${escaped}?${new URLSearchParams(short)}` : escaped;
});

const rpcMessage = fc.record({
  jsonrpc: mostly(fc.constant("2.0")),
  id: fc.oneof(fc.integer(), fc.constantFrom<unknown>("a", null, 1.5, {})),
  method: mostly(
    fc.constantFrom(
      ...["initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list"],
      ...["resources/read", "server/discover", "notifications/initialized", "subscriptions/listen", "logging/setLevel"],
    ),
  ),
  params: fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.record({
      name: fc.oneof(hostileText, fc.constant("sync_bill_amounts")),
      arguments: fc.jsonValue(),
      _meta: fc.record({ progressToken: fc.oneof(hostileText, fc.integer(), fc.jsonValue()) }),
    }, { requiredKeys: ["name", "arguments"] }),
  ),
}, { requiredKeys: [] }).map((message) => JSON.stringify(message));

const body = fc.oneof(
  fc.constant(undefined),
  pairs.map((fields) => new URLSearchParams(fields).toString()),
  fc.json(),
  rpcMessage,
  fc.record({ redirect_uris: fc.array(mostly(fc.constantFrom(...VALUES))), client_name: hostileText })
    .map((metadata) => JSON.stringify(metadata)),
  hostileText,
);

/** Header values without line breaks and non-Latin-1 characters, which the client would refuse to send. */
const headerValue = (texts: fc.Arbitrary<string>) =>
  texts.map((text) => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 500).trim());

const headers = fc.record({
  "content-type": headerValue(
    mostly(
      fc.constantFrom("application/x-www-form-urlencoded", "application/json", "multipart/form-data", "text/plain"),
    ),
  ),
  "accept": headerValue(mostly(fc.constantFrom("text/html", "application/json", "text/event-stream", "*/*"))),
  "origin": headerValue(mostly(fc.constantFrom("https://evil.example", "null", "same"))),
  "sec-fetch-site": headerValue(mostly(fc.constantFrom("same-origin", "cross-site", "none"))),
  "mcp-protocol-version": headerValue(mostly(fc.constantFrom("2025-06-18", "2025-11-25", "2026-07-28"))),
  "x-forwarded-for": headerValue(hostileText),
  "x-payment-signature": headerValue(mostly(fc.constant("0".repeat(64)))),
}, { requiredKeys: [] });

export const request: fc.Arbitrary<FuzzRequest> = fc.record({
  method: fc.oneof({ weight: 3, arbitrary: fc.constantFrom("GET", "POST") }, {
    weight: 1,
    arbitrary: fc.constantFrom(...METHODS),
  }),
  path: address,
  headers: headers as fc.Arbitrary<Record<string, string>>,
  credential: fc.constantFrom<Credential>("none", "session", "session", "token", "cron", "garbage"),
  body,
}, { requiredKeys: ["method", "path", "headers", "credential"] });
