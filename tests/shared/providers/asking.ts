/** Calls one provider with the test's responses, and records its requests. */
import type { GuardedRequest } from "../../../shared/net/guarded_fetch.ts";
import { createProviderGet } from "../../../shared/providers/get.ts";
import type { Credential, Month, Provider, Statement } from "../../../shared/providers/provider.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";

export const NOW = new Date("2026-11-02T06:00:00Z");
export const OCTOBER: Month = { start: "2026-10-01", end: "2026-11-01" };

export interface Asked {
  url: string;
  headers: Record<string, string>;
}

export interface Made {
  /** The response; a plain value is sent as JSON with 200. */
  answer: (asked: Asked, index: number) => unknown;
  credential: Credential;
  month?: Month;
  bases?: Record<string, string>;
}

/** Uses `fetch`, or the guarded one for a provider without a base. */
export async function asking(provider: Provider, { answer, credential, month = OCTOBER, bases = {} }: Made) {
  const asked: Asked[] = [];
  const respond = (url: string, headers: HeadersInit | undefined) => {
    asked.push({ url, headers: Object.fromEntries(new Headers(headers)) });
    const answered = answer(asked.at(-1)!, asked.length - 1);
    return answered instanceof Response ? answered : Response.json(answered);
  };
  const get = createProviderGet({
    provider,
    bases,
    fetch: (url, init) => Promise.resolve(respond(String(url), init?.headers)),
    guardedFetch: async ({ url, headers }: GuardedRequest) => {
      if (provider.base) throw new Error("the guarded fetch is for users' URLs only");
      const response = respond(url, headers);
      const body = new Uint8Array(await response.arrayBuffer());
      return { ok: true, status: response.status, headers: response.headers, body };
    },
    clock: () => NOW,
    signal: AbortSignal.timeout(5000),
  });
  const outcome: Statement | ProviderError = await provider.fetchMonth({ month, credential, get }).catch((thrown) => {
    if (thrown instanceof ProviderError) return thrown;
    throw thrown;
  });
  return { asked, outcome };
}

/** A failure's code, or the whole statement. */
export const said = ({ outcome }: { outcome: Statement | ProviderError }) =>
  outcome instanceof ProviderError ? outcome.code : outcome;

/** Days of October as buckets, from `[day, value]`; the last day ends the month. */
export const dayOfOctober = (day: number) => `2026-10-${String(day).padStart(2, "0")}`;
export const unixSeconds = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;
