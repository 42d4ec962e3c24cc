/** What can go wrong between us and a provider, as few words as there are things to do about it. */

export type ProviderFailure =
  /** The credential is not accepted, or may not do this: its owner has to connect again. */
  | "auth"
  /** Asked too often; not again before `retryAfterSeconds`, when it says so. */
  | "rate_limited"
  /** There is no final amount of the month yet, which is not an amount of 0. */
  | "not_ready"
  /** The provider is down or out of reach. */
  | "upstream"
  /** It answers, and not with what its documentation says: nothing that waiting helps against. */
  | "bad_shape"
  /** The answer took too long. */
  | "timeout";

/** The only thing that asking a provider throws. Its message is ours: nothing in it comes from the answer, the address or the credential. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(readonly code: ProviderFailure, message: string, readonly retryAfterSeconds?: number) {
    super(message);
  }
}
