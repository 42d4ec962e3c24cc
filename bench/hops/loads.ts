/**
 * The requests that the benchmark sends to the service and to its floor. Both get the same body where the protocol
 * defines it.
 */
import { createHash, createHmac, randomBytes, randomUUID } from "node:crypto";
import { paymentEvent } from "../../local/payment_event.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { issueCode } from "../../shared/oauth/authorization_code.ts";
import { type Era, ERAS } from "../../tests/functions/mcp/harness.ts";
import { LARGE } from "../large_organization_reads.ts";
import type { Load } from "../measure/load.ts";
import { Connection, requestBytes } from "../measure/raw_http.ts";
import { CODE_SECRET, WEBHOOK_SECRET } from "../secrets.ts";

export const CLIENT_ID = "client_benchmark0000000000000";
const REDIRECT_URI = "http://127.0.0.1:9/callback";
const PEOPLE = 2048;
const RESOURCE = "https://expenses.example/api/mcp";
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json" };
const FORM_HEADERS = { "content-type": "application/x-www-form-urlencoded", accept: "application/json" };

const formRequest = (fields: Record<string, string>, path = "/api/oauth/token") =>
  requestBytes({ path, headers: FORM_HEADERS, body: new URLSearchParams(fields).toString() });

/** Client registrations (RFC 7591). */
export function registration(path: string, more: Record<string, unknown> = {}): Load {
  let requests: Uint8Array[] = [];
  let made = 0;
  return {
    prepare(count) {
      requests = Array.from({ length: count }, () =>
        requestBytes({
          path,
          headers: JSON_HEADERS,
          body: JSON.stringify({
            client_name: `Benchmark ${++made}`,
            redirect_uris: [REDIRECT_URI],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            ...more,
          }),
        }));
      return Promise.resolve();
    },
    request: (index) => requests[index]!,
    isGood: ({ status, body }) => (status === 201 || status === 200) && body.includes(`"client_id"`),
  };
}

/** An unused authorization code. */
export interface Code {
  code: string;
  verifier: string;
}
/** Creates codes outside the timed part. */
export type CodeMaker = (count: number) => Promise<Code[]>;

const challengeOf = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");
const newVerifier = () => randomBytes(32).toString("base64url");

let nextPerson = 0;
/** Picks the members of an organization in turn. */
const anybody = () => {
  const person = `${1 + nextPerson++ % PEOPLE}`;
  return {
    userId: `00000000-0000-4000-8000-${person.padStart(12, "0")}`,
    organizationId: `org_p${person.padStart(11, "0")}`,
  };
};

/**
 * Codes in the form of the service's consent page. @param whose the person whom the codes belong to; by default, many
 * people in turn
 */
export const serviceCodes =
  (whose: () => { userId: string; organizationId: string } = anybody, clientId = CLIENT_ID): CodeMaker => (count) =>
    Promise.all(Array.from({ length: count }, async () => {
      const verifier = newVerifier();
      const about = { id: randomUUID(), clientId, redirectUri: REDIRECT_URI, resource: RESOURCE, ...whose() };
      return {
        verifier,
        code: await issueCode(
          [CODE_SECRET],
          { ...about, codeChallenge: challengeOf(verifier), access: "write" },
          new Date(),
        ),
      };
    }));

export const floorCodes = (admin: SqlDatabase): CodeMaker => async (count) => {
  const codes = Array.from({ length: count }, () => ({ code: newVerifier(), verifier: newVerifier() }));
  const hashes = codes.map(({ code, verifier }) => [
    createHash("sha256").update(code).digest("hex"),
    challengeOf(verifier),
  ]);
  await admin.query(
    `insert into floor.codes (code_hash, challenge, user_id)
     select c ->> 0, c ->> 1, 1 from jsonb_array_elements($1::text::jsonb) as c`,
    [JSON.stringify(hashes)],
  );
  return codes;
};

/** The token endpoint, and the data that requests need. */
export interface TokenEndpoint {
  path: string;
  clientId: string;
  redirectUri?: string;
  codes: CodeMaker;
  /** Additional fields of every request. */
  fields?: Record<string, string>;
}

const exchange = (to: TokenEndpoint, { code, verifier }: Code) =>
  formRequest({
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    client_id: to.clientId,
    redirect_uri: to.redirectUri ?? REDIRECT_URI,
    ...to.fields,
  }, to.path);

export function codeExchange(to: TokenEndpoint): Load {
  let requests: Uint8Array[] = [];
  return {
    async prepare(count) {
      requests = (await to.codes(count)).map((code) => exchange(to, code));
    },
    request: (index) => requests[index]!,
    isGood: ({ status, body }) => status === 200 && body.includes(`"access_token"`),
  };
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** Issued one at a time, before the timing starts. */
export async function tokensFrom(port: number, to: TokenEndpoint, count: number): Promise<Tokens[]> {
  const connection = new Connection(port);
  const tokens: Tokens[] = [];
  for (const code of await to.codes(count)) {
    const { status, body } = await connection.send(exchange(to, code));
    if (status !== 200) throw new Error(`No tokens from port ${port}: ${status} ${body}`);
    tokens.push(JSON.parse(body));
  }
  connection.close();
  return tokens;
}

/** One chain of rotations per connection. */
export function refreshing(to: TokenEndpoint, chains: Tokens[]): Load {
  const current = chains.map(({ refresh_token }) => refresh_token);
  return {
    prepare: () => Promise.resolve(),
    request: (_, lane) =>
      formRequest(
        { grant_type: "refresh_token", refresh_token: current[lane]!, client_id: to.clientId, ...to.fields },
        to.path,
      ),
    isGood({ status, body }, lane) {
      if (status !== 200) return false;
      current[lane] = JSON.parse(body).refresh_token;
      return true;
    },
  };
}

/** Calls one tool. @param says text that a correct answer contains */
export function toolCalls(
  { path, era, tool, args, tokens, says }: {
    path: string;
    era: Era;
    tool: string;
    args: Record<string, unknown>;
    tokens: string[];
    says: string;
  },
): Load {
  const { body, headers } = ERAS[era]("tools/call", { name: tool, arguments: args });
  const requests = tokens.map((token) =>
    requestBytes({
      path,
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        ...headers,
      },
      body: JSON.stringify(body),
    })
  );
  return {
    prepare: () => Promise.resolve(),
    request: (index) => requests[index % requests.length]!,
    isGood: ({ status, body }) => status === 200 && body.includes(says) && !body.includes(`"isError":true`),
  };
}

/** Access tokens of the organization with 2,000 payments. */
export const largeOwner = () => LARGE;

/**
 * First payments of subscriptions, each for a different organization. They write the ledger, the subscription, the
 * plan and an audit event.
 */
export function paymentEvents(): Load {
  let requests: Uint8Array[] = [];
  let made = 0;
  return {
    async prepare(count) {
      requests = await Promise.all(Array.from({ length: count }, async () => {
        const number = `${++made}`;
        const body = JSON.stringify(
          await paymentEvent("subscription.charged", {
            organizationId: `org_w${number.padStart(11, "0")}`,
            subscriptionId: `sub_${number.padStart(14, "0")}`,
            at: new Date(),
          }),
        );
        const signature = createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex");
        return requestBytes({
          path: "/api/payment/webhook",
          headers: { "content-type": "application/json", "x-payment-signature": signature },
          body,
        });
      }));
    },
    request: (index) => requests[index]!,
    // The floor only stores the request.
    isGood: ({ status, body }) => status === 200 && /"(applied|stored)"/.test(body),
  };
}
