/** Why a guarded fetch failed. For the log and internal decisions; outside callers never see it. */
import type { UrlRefusal } from "./guarded_url.ts";

export type FetchRefusal =
  | UrlRefusal
  /** The name has no address, or DNS failed. */
  | "unresolvable"
  /** One of its addresses is not public. */
  | "address_not_public"
  | "unreachable"
  /** No valid certificate for the name. */
  | "tls_failed"
  | "timed_out"
  | "malformed"
  | "cut_short"
  | "too_large"
  /** Compressed although plain was requested. */
  | "encoded";

/** Thrown only within this folder; callers get the reason as a value. */
export class FetchRefused extends Error {
  override readonly name = "FetchRefused";
  constructor(readonly reason: FetchRefusal, options?: ErrorOptions) {
    super(reason, options);
  }
}
