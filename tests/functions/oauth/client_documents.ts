/** Clients identified by the URL of their metadata, with their published documents, over one database. */
import { assertEquals } from "@std/assert";
import type { RateLimits } from "../../../shared/config.ts";
import type { GuardedAnswer } from "../../../shared/net/guarded_fetch.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  answerOf,
  authorizationQuery,
  createHarness,
  createPerson,
  exchangeFields,
  type Fields,
  type Harness,
  over,
} from "./harness.ts";

export const database = await sharedDatabase();
export const person = await createPerson(database, "documents@example.com", ["team"]);

export const CALLBACK = "https://client.example/callback";
let count = 0;

type Metadata = Record<string, unknown>;
export const published = (document: unknown, headers: Record<string, string> = {}): GuardedAnswer => ({
  ok: true,
  status: 200,
  headers: new Headers({ "content-type": "application/json", ...headers }),
  body: new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document)),
});
export const failed = (status: number): GuardedAnswer => ({
  ok: true,
  status,
  headers: new Headers(),
  body: new Uint8Array(),
});

/** A separate client and harness for each test, because each process remembers failures. */
export function createClient(
  { rateLimits = "off", host = "client.example" }: { rateLimits?: RateLimits; host?: string } = {},
) {
  const harness = createHarness(over(database), { rateLimits });
  const clientId = `https://${host}/${count++}/client.json`;
  const ask = (more: Fields = {}, visitor: typeof person | null = person, headers: Record<string, string> = {}) =>
    harness.get(authorizationQuery(clientId, { redirect_uri: CALLBACK, ...more }), visitor, headers);
  const answer = (given: GuardedAnswer) => void (harness.publish.answer = () => Promise.resolve(given));
  const publish = (more: Metadata = {}, headers: Record<string, string> = {}) =>
    answer(
      published({ client_id: clientId, client_name: "Example", redirect_uris: [CALLBACK], ...more }, headers),
    );
  publish();
  return {
    harness,
    clientId,
    answer,
    publish,
    ask,
    /** Status of the page, and the numbers of fetches and database calls. */
    async looks(...request: Parameters<typeof ask>) {
      const [fetches, calls] = [harness.fetched.length, harness.calls.length];
      const response = await ask(...request);
      await response.body?.cancel();
      return [response.status, harness.fetched.length - fetches, harness.calls.length - calls];
    },
  };
}

export const FRESH = [200, 0, 1];
export const READ = [200, 1, 2];

export async function connectApp({ harness, clientId }: { harness: Harness; clientId: string }) {
  const page = await (await harness.get(authorizationQuery(clientId, { redirect_uri: CALLBACK }), person)).text();
  const decided = await harness.decide(page, { action: "approve", organization_id: person.organizations[0] }, person);
  const code = answerOf(decided).code!;
  const response = await harness.post("token", exchangeFields(clientId, code, { redirect_uri: CALLBACK }));
  assertEquals(response.status, 200);
  return await response.json();
}
