/** The discovery documents: they must exist at every address that some client requests, and be identical. */
import { type Route, ROUTES } from "../../shared/routes.ts";
import { type Answer, type Check, describe, type Line, objectOf, type Site, wrong } from "./check.ts";

const wellKnown = (slug: Route["slug"]) =>
  ROUTES.filter((route) => route.slug === slug && route.path.includes("/.well-known/")).map(({ path }) => path);

/** The authorization server's (RFC 8414 §2), with the members that readers of an openid-configuration require. */
export const authorizationServer: Check = async function* (site) {
  const [first, ...lines] = await readDocuments(site, wellKnown("oauth"));
  yield* lines;
  if (!first) return;
  if (first.issuer !== site.url) {
    yield wrong(`The issuer is ${first.issuer}, not ${site.url}; set NEXT_PUBLIC_SITE_URL to the address people use`);
    return;
  }
  for (const [name, value] of Object.entries(first)) {
    const isEndpoint = name.endsWith("_endpoint") || name === "jwks_uri";
    if (isEndpoint && !String(value).startsWith(`${site.url}/`)) yield wrong(`${name} leads to ${value}, elsewhere`);
  }
  const required = [
    ...["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint", "jwks_uri"],
    ...["response_types_supported", "subject_types_supported", "id_token_signing_alg_values_supported"],
  ];
  const missing = required.filter((name) => !(name in first));
  if (missing.length > 0) yield wrong(`The authorization server's document lacks ${missing.join(", ")}`);
  if (!includes(first.code_challenge_methods_supported, "S256")) {
    yield wrong("The authorization server's document offers no S256, without which clients refuse to sign in");
  }
};

/** The connector's (RFC 9728 §2) at the site's address. */
export const protectedResource: Check = async function* (site) {
  const [first, ...lines] = await readDocuments(site, wellKnown("mcp"));
  yield* lines;
  if (first) yield* judgeResource(site, { document: first, resource: `${site.url}/api/mcp` });
};

export function* judgeResource(
  site: Site,
  { document, resource }: { document: Record<string, unknown>; resource: string },
): Iterable<Line> {
  if (document.resource !== resource) {
    yield wrong(`The connector calls itself ${document.resource}, not ${resource}: clients would refuse its tokens`);
  }
  if (JSON.stringify(document.authorization_servers) !== JSON.stringify([site.url])) {
    yield wrong(
      `The connector at ${resource} sends clients to ${JSON.stringify(document.authorization_servers)} to sign in`,
    );
  }
}

/**
 * Addresses at which a site that answers everything with one page would break discovery: clients continue only after a
 * 404.
 */
export const unknownAddresses: Check = async function* (site) {
  for (
    const path of ["/.well-known/selfcheck", "/.well-known/oauth-authorization-server/selfcheck", "/api/selfcheck"]
  ) {
    const answer = await site.ask(path);
    if (answer.status !== 404) {
      yield wrong(`${path}, which should not exist, answers ${describe(answer)} instead of 404`);
    }
  }
};

/** Documents are built from configuration: if a header could change the host in them, codes could be sent there. */
export const forgedHost: Check = async function* (site) {
  const [path] = wellKnown("oauth");
  const forged = {
    "x-forwarded-host": "selfcheck.invalid",
    "x-forwarded-proto": "http",
    "forwarded": "host=selfcheck.invalid",
  };
  const [plain, told] = [await site.ask(path!), await site.ask(path!, { headers: forged })];
  if (plain.text !== told.text) yield wrong("X-Forwarded-Host changes the authorization server's document");
};

/** The first valid document, and a line per address that has none or a different one. */
async function readDocuments(
  site: Site,
  paths: readonly string[],
): Promise<[Record<string, unknown> | undefined, ...Line[]]> {
  const lines: Line[] = [];
  let first: { path: string; answer: Answer; document: Record<string, unknown> } | undefined;
  for (const path of paths) {
    const answer = await site.ask(path, { headers: { "mcp-protocol-version": "2025-11-25" } });
    const document = objectOf(answer);
    const isJson = /^application\/json\b/i.test(answer.headers.get("content-type") ?? "");
    if (answer.status !== 200 || !document || !isJson) {
      lines.push(wrong(`${path} answers ${describe(answer)} instead of a JSON document`));
      continue;
    }
    if (answer.headers.get("access-control-allow-origin") !== "*") {
      lines.push(wrong(`${path} cannot be read by clients in a browser: no Access-Control-Allow-Origin`));
    }
    first ??= { path, answer, document };
    if (answer.text !== first.answer.text) lines.push(wrong(`${path} differs from ${first.path}`));
  }
  return [first?.document, ...lines];
}

const includes = (list: unknown, value: string) => Array.isArray(list) && list.includes(value);
