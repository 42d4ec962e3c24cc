/** Tells a valid database answer from a malformed one. */
import { AppError } from "../errors.ts";
import type { Database } from "./client.ts";

/**
 * @param isOne recognizes a valid answer.
 * @throws {AppError} `unavailable`, never a refusal: a malformed answer must not end anyone's session.
 */
export function expectAnswer<Answer>(
  name: string,
  answer: unknown,
  isOne: (answer: Record<string, unknown>) => boolean,
): Answer {
  if (typeof answer === "object" && answer !== null && isOne(answer as Record<string, unknown>)) {
    return answer as Answer;
  }
  throw new AppError("unavailable", "We couldn't reach our database.", {
    says: ({ databaseDown }) => databaseDown,
    cause: new Error(`${name} returned an unexpected answer`),
    headers: { "retry-after": "5" },
  });
}

/** An answer with one of these outcomes, or `limited`, which any call may return (quota.ts). */
export const hasOutcome = (...outcomes: readonly string[]) => ({ outcome, retry_after }: Record<string, unknown>) =>
  outcome === "limited" ? Number.isInteger(retry_after) : outcomes.includes(outcome as string);

/**
 * Calls what answers an outcome. @throws as `expectAnswer` when the answer has none, beside what `Database.call`
 * throws.
 */
export const asking =
  (database: Database) => async <Answer extends { outcome: string }>(...asked: Parameters<Database["call"]>) =>
    expectAnswer<Answer>(asked[0], await database.call(...asked), ({ outcome }) => typeof outcome === "string");
