/** Which failure a status of HTTP is, and which one a fetch that was refused: one place for all providers. */
import type { FetchRefusal } from "../net/refusal.ts";
import { ProviderError, type ProviderFailure } from "./provider_error.ts";

/** Less than a day, whatever they ask for: the job's next run may begin a little earlier in the day than the last one. */
const LONGEST_WAIT_S = 82_800;

const MEANING: Readonly<Record<ProviderFailure, string>> = {
  auth: "The provider does not accept the credential",
  rate_limited: "The provider was asked too often",
  not_ready: "There is no final amount of the month yet",
  upstream: "The provider is out of order",
  bad_shape: "The provider answers what it is not documented to",
  timeout: "The provider took too long",
};

/**
 * @param options.now what the waiting counts from, where a provider says until when.
 * @param options.means what a status means with this provider.
 */
export function failureOfStatus(
  { status, headers }: { status: number; headers: Headers },
  { now, means }: { now: Date; means: Readonly<Record<number, ProviderFailure>> },
): ProviderError {
  if (means[status]) return new ProviderError(means[status], `${MEANING[means[status]]} (${status})`);
  // GitHub says 403 for asked too often; a credential must not be taken for a bad one then.
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
    return new ProviderError("bad_shape", `The provider sends us elsewhere (${status})`);
  }
  return new ProviderError("bad_shape", `${MEANING.bad_shape} (${status})`);
}

/** `Retry-After` in either of its forms (RFC 9110 §10.2.3), else the second at which a spent limit is filled up. */
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
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), LONGEST_WAIT_S);
}

/** Whoever typed an address is not told what our network looks like from inside: what is not public is out of reach. */
export function failureOfRefusal(reason: FetchRefusal): ProviderError {
  switch (reason) {
    case "timed_out":
      return new ProviderError("timeout", MEANING.timeout);
    case "unresolvable":
    case "address_not_public":
    case "unreachable":
    case "tls_failed":
    case "cut_short":
      return new ProviderError("upstream", "The provider cannot be reached");
    case "too_large":
    case "malformed":
    case "encoded":
      return new ProviderError("bad_shape", "The answer is too large, or not what HTTP allows");
    default:
      return new ProviderError("bad_shape", "The address may not be asked: it must be https, at a public name");
  }
}
