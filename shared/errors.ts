/**
 * The errors a function may answer with: one class, a closed set of codes, one status each. Internal detail goes into
 * `cause` and reaches only the log; `message` is for programs and the log. Pages show `says`, or else the catalog's
 * text for the code.
 */
import type { Words } from "./words/words.ts";

const STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  suspended: 403,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;
export type ErrorStatus = (typeof STATUS)[ErrorCode];

/** An expected failure. Anything else that is thrown is answered as `internal`. */
export class AppError extends Error {
  override readonly name = "AppError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: {
      cause?: unknown;
      headers?: Record<string, string>;
      /** The message for people, in their language. */
      says?: (failures: Words["pages"]["failures"]) => string;
    } = {},
  ) {
    super(message, { cause: options.cause });
  }

  /** HTTP status of the code. */
  get status(): ErrorStatus {
    return STATUS[this.code];
  }
}

/** The `AppError` itself, or `internal` wrapping anything else that was thrown. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  return new AppError("internal", "Something went wrong on our side. Nothing you sent was the cause.", {
    cause: thrown,
  });
}
