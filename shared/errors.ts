/**
 * The errors that a function may return: one class, a closed set of codes, one status each. Internal detail belongs in
 * `cause` and reaches only the log; `message` is for programs and the log. Pages show `says`, otherwise the catalog's
 * text for the code.
 */
import { type ErrorCode, type ErrorStatus, STATUS } from "./error_codes.ts";
import type { OrganizationState } from "./organization_state.ts";
import type { PageWords } from "./words/page_words.ts";

/** An expected failure. Any other thrown value becomes `internal`. */
export class AppError extends Error {
  override readonly name = "AppError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: {
      cause?: unknown;
      headers?: Record<string, string>;
      /** The message for people, in their language. */
      says?: (failures: PageWords["failures"]) => string;
      /** The organization that rejects changes. Pages explain why, and name a person who can help. */
      unchangeable?: { id: string; state: OrganizationState };
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
