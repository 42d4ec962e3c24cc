/** Why a guarded fetch came back with nothing. For the log and for decisions; a caller from outside is told none of it. */
import type { UrlRefusal } from "./guarded_url.ts";

export type FetchRefusal =
  | UrlRefusal
  /** The name has no address, or nobody could be asked for one. */
  | "unresolvable"
  /** One of its addresses is not on the public internet. */
  | "address_not_public"
  | "unreachable"
  /** No certificate of that name, from an issuer that we know. */
  | "tls_failed"
  | "timed_out"
  | "malformed"
  | "cut_short"
  | "too_large"
  /** Compressed although plain was asked for. */
  | "encoded";

/** Thrown inside this folder only; its callers get the reason as a value. */
export class FetchRefused extends Error {
  override readonly name = "FetchRefused";
  constructor(readonly reason: FetchRefusal, options?: ErrorOptions) {
    super(reason, options);
  }
}
