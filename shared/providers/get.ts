/**
 * How adapters ask: one GET at a time, at the provider's own origin, with limits and a deadline, and with every outcome that is no
 * answer turned into a typed failure here. It follows no redirect and sends a credential to no other origin. What an answer means is
 * the adapter's business.
 */
import type { Clock } from "../clock.ts";
import { before } from "../net/deadline.ts";
import type { GuardedFetch } from "../net/guarded_fetch.ts";
import { type Body, bytesOf, linesOf, textOf } from "./body.ts";
import { parseExactly } from "./exact_json.ts";
import { ProviderError, type ProviderFailure } from "./provider_error.ts";
import { failureOfRefusal, failureOfStatus } from "./failure.ts";

export interface ProviderRequest {
  /** A path below the provider's base, or a whole address at its origin, as links to further pages are; for a provider without a base any address. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** What statuses mean here that mean something else elsewhere. */
  means?: Readonly<Record<number, ProviderFailure>>;
  /** Statuses beside 200 whose answer the adapter reads itself. */
  alsoReads?: readonly number[];
  /** Of the body. 500 kB when absent. */
  maxBytes?: number;
}

/** Read it, by one of the two, to the end or not: its connection is kept open until then. */
export interface ProviderResponse {
  status: number;
  /** Numbers are the text of their digits. @throws {ProviderError} */
  json(): Promise<unknown>;
  /** JSON values, one a line, as they arrive. @throws {ProviderError} */
  jsonLines(): AsyncIterable<unknown>;
}

/** @throws {ProviderError} and nothing else. */
export type ProviderGet = (request: ProviderRequest) => Promise<ProviderResponse>;

export interface ProviderGetOptions {
  /** Who is asked. */
  provider: { key: string; base?: string };
  /** Where providers are instead of at their own base, by key (`PROVIDER_BASES`). */
  bases: Readonly<Record<string, string>>;
  /** For providers whose address we know. */
  fetch: typeof fetch;
  /** For those whose address somebody typed. */
  guardedFetch: GuardedFetch;
  clock: Clock;
  /** Ends everything that is asked, also in the middle of an answer. */
  signal: AbortSignal;
}

/** A page of theirs; at worst a tenth of a second to read. */
const MAX_BYTES = 500_000;
/** As long as a link may take; the guarded fetch closes its connection by a clock of its own, and `signal` may be felt before. */
const GUARDED_DEADLINE_MS = 10_000;

export function createProviderGet({ provider, bases, ...options }: ProviderGetOptions): ProviderGet {
  const base = provider.base && (bases[provider.key] ?? provider.base).replace(/\/+$/, "");
  const { clock, signal } = options;
  return async ({ url, headers, means = {}, alsoReads = [], maxBytes = MAX_BYTES }) => {
    // A further page is not begun for nothing.
    if (signal.aborted) throw new ProviderError("timeout", "The provider took too long");
    const asking = {
      headers: { accept: "application/json", "user-agent": "expense-service", ...headers },
      maxBytes,
      ...options,
    };
    const answer = base ? await ask(addressAt(base, url), asking) : await askGuarded(url, asking);
    if (answer.status !== 200 && !alsoReads.includes(answer.status)) {
      await answer.body?.cancel().catch(() => {});
      throw failureOfStatus(answer, { now: clock(), means });
    }
    const bytes = () => bytesOf(answer.body, { maxBytes, signal });
    return {
      status: answer.status,
      json: async () => parseExactly(await textOf(bytes())),
      async *jsonLines() {
        for await (const line of linesOf(bytes())) yield parseExactly(line);
      },
    };
  };
}

/** @throws {ProviderError} for an address at another origin: whoever is there would be told the credential. */
function addressAt(base: string, url: string): URL {
  if (url.startsWith("/")) return new URL(base + url);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.origin !== new URL(base).origin || address.username || address.password) {
    throw new ProviderError("bad_shape", "A link to the next page leads elsewhere");
  }
  return address;
}

interface GetContext {
  headers: Readonly<Record<string, string>>;
  maxBytes: number;
  fetch: typeof fetch;
  guardedFetch: GuardedFetch;
  signal: AbortSignal;
}

interface Answer {
  status: number;
  headers: Headers;
  body: Body;
}

async function ask(url: URL, { headers, fetch, signal }: GetContext): Promise<Answer> {
  try {
    // A redirect comes back as what it is. Compressed bodies are welcome: what counts is what they grow to.
    return await before(signal, fetch(url, { headers, redirect: "manual", signal }));
  } catch {
    // What was thrown names the address.
    if (signal.aborted) throw new ProviderError("timeout", "The provider took too long");
    throw new ProviderError("upstream", "The provider cannot be reached");
  }
}

async function askGuarded(url: string, { headers, maxBytes, guardedFetch, signal }: GetContext): Promise<Answer> {
  const asking = guardedFetch({ url, headers, maxBytes, deadlineMs: GUARDED_DEADLINE_MS });
  const answer = await before(signal, asking).catch(() => ({ ok: false, reason: "timed_out" }) as const);
  if (!answer.ok) throw failureOfRefusal(answer.reason);
  const { status, headers: answered, body } = answer;
  return { status, headers: answered, body: new Response(body.slice()).body };
}
