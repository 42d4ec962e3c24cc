/** How the connector rejects callers without a token: from this response clients learn where to sign in. */
import { type Answer, type Check, describe, type Line, objectOf, type Site, wrong } from "./check.ts";
import { judgeResource } from "./discovery.ts";

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "selfcheck", version: "1" } },
});

const post = (headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", accept: "*/*", ...headers },
  body: INITIALIZE,
});

export const connector: Check = async function* (site) {
  yield* challenges(site, "/api/mcp", `${site.url}/api/mcp`);
};

/** The same at the function's own address, which clients may be given too. */
export const directAddress: Check = async function* (site) {
  if (!site.functionsUrl) return;
  const resource = `${site.functionsUrl}/mcp`;
  yield* challenges(site, resource, resource);
  const answer = await site.ask(`${resource}/.well-known/oauth-protected-resource`);
  const document = objectOf(answer);
  if (!document) yield wrong(`${resource} has no document of its own: ${describe(answer)}`);
  else yield* judgeResource(site, { document, resource });
};

async function* challenges(site: Site, address: string, resource: string): AsyncIterable<Line> {
  const metadata = `${resource}/.well-known/oauth-protected-resource`;
  const without = await site.ask(address, post());
  yield* judgeChallenge(`${address} without a token`, without, metadata);
  const parameters = challengeOf(without);
  if (parameters.has("error")) yield wrong(`${address} without a token names an error (RFC 6750 §3.1)`);
  const withBad = await site.ask(address, post({ authorization: "Bearer exp_at_selfcheck" }));
  yield* judgeChallenge(`${address} with a bad token`, withBad, metadata);
  if (withBad.status === 401 && challengeOf(withBad).get("error") !== "invalid_token") {
    yield wrong(`${address} with a bad token does not report invalid_token`);
  }
}

function* judgeChallenge(what: string, answer: Answer, metadata: string): Iterable<Line> {
  if (answer.status !== 401) {
    yield wrong(`${what} answers ${describe(answer)} instead of 401`);
    return;
  }
  const parameters = challengeOf(answer);
  if (parameters.size === 0) {
    yield wrong(`${what} has no WWW-Authenticate: clients cannot find where to sign in`);
    return;
  }
  const named = parameters.get("resource_metadata");
  if (named !== metadata) yield wrong(`${what} names the document ${named ?? "of nothing"} instead of ${metadata}`);
  if (!parameters.get("scope")) yield wrong(`${what} names no scope`);
  const exposed = (answer.headers.get("access-control-expose-headers") ?? "").toLowerCase();
  const isReadable = answer.headers.get("access-control-allow-origin") === "*" && exposed.includes("www-authenticate");
  if (!isReadable) yield wrong(`${what}: clients in a browser cannot read WWW-Authenticate (CORS)`);
}

/** The parameters of a Bearer challenge; empty when there is none. */
function challengeOf(answer: Answer): Map<string, string> {
  const [, parameters = ""] = /^Bearer (.+)$/.exec(answer.headers.get("www-authenticate") ?? "") ?? [];
  return new Map([...parameters.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]));
}
