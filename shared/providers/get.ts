/**
 * The HTTP client of adapters: single GETs at the provider's own origin, with size limits and a deadline. Every failure
 * becomes a ProviderError. It follows no redirects and sends a credential to no other origin.
 */
import type { Clock } from "../clock.ts";
import { parseExactJson } from "../exact_json.ts";
import { before } from "../net/deadline.ts";
import type { GuardedFetch } from "../net/guarded_fetch.ts";
import { type Body, bytesOf, linesOf, textOf } from "./body.ts";
import { ProviderError, type ProviderFailure } from "./provider_error.ts";
import { failureOfRefusal, failureOfStatus } from "./failure.ts";

export interface ProviderRequest {
  /**
   * A path below the provider's base, or an absolute URL at its origin, such as a link to the next page. Any URL for a
   * provider without a base.
   */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Statuses with a special meaning at this provider. */
  means?: Readonly<Record<number, ProviderFailure>>;
  /** Statuses other than 200 whose body the adapter reads itself. */
  alsoReads?: readonly number[];
  /** Size limit of the body; 500 kB if absent. */
  maxBytes?: number;
}

/** The caller must read the body with one of the two methods; the connection remains open until then. */
export interface ProviderResponse {
  status: number;
  /** Numbers become strings of their digits. @throws {ProviderError} */
  json(): Promise<unknown>;
  /** JSON values, one per line, as they arrive. @throws {ProviderError} */
  jsonLines(): AsyncIterable<unknown>;
}

/** @throws {ProviderError} and nothing else. */
export type ProviderGet = (request: ProviderRequest) => Promise<ProviderResponse>;

export interface ProviderGetOptions {
  /** The provider to query. */
  provider: { key: string; base?: string };
  /** Overrides of providers' base URLs, by key (`PROVIDER_BASES`). */
  bases: Readonly<Record<string, string>>;
  /** For providers with a known URL. */
  fetch: typeof fetch;
  /** For URLs that a person typed. */
  guardedFetch: GuardedFetch;
  clock: Clock;
  /** Aborts all requests, even while a response is being read. */
  signal: AbortSignal;
}

/** Fits any page of a provider; parsing takes a tenth of a second at most. */
const MAX_BYTES = 500_000;
/** The time limit of a link. The guarded fetch closes its connection on its own timer; `signal` may fire earlier. */
const GUARDED_DEADLINE_MS = 10_000;

export function createProviderGet({ provider, bases, ...options }: ProviderGetOptions): ProviderGet {
  const base = provider.base && (bases[provider.key] ?? provider.base).replace(/\/+$/, "");
  const { clock, signal } = options;
  return async ({ url, headers, means = {}, alsoReads = [], maxBytes = MAX_BYTES }) => {
    // Don't start another page after the deadline.
    if (signal.aborted) throw new ProviderError("timeout", "The provider did not respond in time");
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
      json: async () => parse(await textOf(bytes())),
      async *jsonLines() {
        for await (const line of linesOf(bytes())) yield parse(line);
      },
    };
  };
}

/** @throws {ProviderError} `bad_shape` */
function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    throw new ProviderError("bad_shape", "The response is not JSON");
  }
}

/** @throws {ProviderError} for a URL at another origin, which would receive the credential. */
function addressAt(base: string, url: string): URL {
  if (url.startsWith("/")) return new URL(base + url);
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.origin !== new URL(base).origin || address.username || address.password) {
    throw new ProviderError("bad_shape", "A link to the next page leads to another host");
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
    // Redirects are returned, not followed. Compressed bodies are fine: the limit applies after decompression.
    return await before(signal, fetch(url, { headers, redirect: "manual", signal }));
  } catch {
    // The original error names the URL.
    if (signal.aborted) throw new ProviderError("timeout", "The provider did not respond in time");
    throw new ProviderError("upstream", "The provider is unreachable");
  }
}

async function askGuarded(url: string, { headers, maxBytes, guardedFetch, signal }: GetContext): Promise<Answer> {
  const asking = guardedFetch({ url, headers, maxBytes, deadlineMs: GUARDED_DEADLINE_MS });
  const answer = await before(signal, asking).catch(() => ({ ok: false, reason: "timed_out" }) as const);
  if (!answer.ok) throw failureOfRefusal(answer.reason);
  const { status, headers: answered, body } = answer;
  return { status, headers: answered, body: new Response(body.slice()).body };
}
