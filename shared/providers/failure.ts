/** Maps HTTP statuses and refused fetches to provider failures, for all providers. */
import type { FetchRefusal } from "../net/refusal.ts";
import { ProviderError, type ProviderFailure } from "./provider_error.ts";

/**
 * Less than a day, whatever the provider requests, because the job's next run may start a little earlier in the day.
 */
const MAX_WAIT_S = 82_800;

const MEANING: Readonly<Record<ProviderFailure, string>> = {
  auth: "The provider rejected the credential",
  rate_limited: "The provider's rate limit was reached",
  not_ready: "There is no final amount for the month yet",
  upstream: "The provider is unavailable",
  bad_shape: "The provider's response does not match its documentation",
  timeout: "The provider did not respond in time",
};

/**
 * @param options.now the start of a wait, when the provider names a point in time.
 * @param options.means the meanings of statuses at this provider.
 */
export function failureOfStatus(
  { status, headers }: { status: number; headers: Headers },
  { now, means }: { now: Date; means: Readonly<Record<number, ProviderFailure>> },
): ProviderError {
  if (means[status]) return new ProviderError(means[status], `${MEANING[means[status]]} (${status})`);
  // GitHub uses 403 for rate limits, which must not count as a bad credential.
  // https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
  const isSpent = headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0";
  if (status === 429 || (status === 403 && isSpent)) {
    return new ProviderError("rate_limited", MEANING.rate_limited, secondsToWait(headers, now));
  }
  if (status === 401 || status === 403) {
    return new ProviderError("auth", `${MEANING.auth} (${status})`);
  }
  if (status >= 500 || status === 408) return new ProviderError("upstream", `${MEANING.upstream} (${status})`);
  if (status >= 300 && status < 400) {
    return new ProviderError("bad_shape", `The provider redirects elsewhere (${status})`);
  }
  return new ProviderError("bad_shape", `${MEANING.bad_shape} (${status})`);
}

/** `Retry-After` in either form (RFC 9110 §10.2.3), otherwise the time at which the rate limit resets. */
function secondsToWait(headers: Headers, now: Date): number | undefined {
  const text = headers.get("retry-after")?.trim() ?? "";
  const until = headers.get("x-ratelimit-reset")?.trim() ?? "";
  const seconds = /^\d{1,9}$/.test(text)
    ? Number(text)
    : / GMT$/.test(text)
    ? (Date.parse(text) - now.getTime()) / 1000
    : /^\d{10}$/.test(until)
    ? Number(until) - now.getTime() / 1000
    : NaN;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), MAX_WAIT_S);
}

/** Non-public addresses are reported as unreachable, so nobody can explore our internal network. */
export function failureOfRefusal(reason: FetchRefusal): ProviderError {
  switch (reason) {
    case "timed_out":
      return new ProviderError("timeout", MEANING.timeout);
    case "unresolvable":
    case "address_not_public":
    case "unreachable":
    case "tls_failed":
    case "cut_short":
      return new ProviderError("upstream", "The provider is unreachable");
    case "too_large":
    case "malformed":
    case "encoded":
      return new ProviderError("bad_shape", "The response is too large or not valid HTTP");
    default:
      return new ProviderError("bad_shape", "The address must be https with a public host name");
  }
}
