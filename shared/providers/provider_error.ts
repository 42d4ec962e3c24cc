/** Provider failures, grouped by how to react to them. */

export type ProviderFailure =
  /** The provider rejected the credential, or it lacks permissions: its owner must reconnect. */
  | "auth"
  /** Rate limited; retry after `retryAfterSeconds` if given. */
  | "rate_limited"
  /** The month has no final amount yet, as opposed to an amount of 0. */
  | "not_ready"
  /** The provider is down or unreachable. */
  | "upstream"
  /** The response does not match the documentation; waiting does not help. */
  | "bad_shape"
  /** The response took too long. */
  | "timeout";

/**
 * The only error that provider code throws. Its message is our own, without any part of the response, URL or
 * credential.
 */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  constructor(readonly code: ProviderFailure, message: string, readonly retryAfterSeconds?: number) {
    super(message);
  }
}
