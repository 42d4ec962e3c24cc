/** Tells an answer of the database from an outage that looks like one. */
import { AppError } from "../errors.ts";

/**
 * @param isOne what makes it an answer.
 * @throws {AppError} `unavailable`, never a verdict: nobody may lose a login over nonsense.
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
    cause: new Error(`${name} answered with what cannot be its answer`),
    headers: { "retry-after": "5" },
  });
}

/** An answer with one of these outcomes, or `limited`, which any call may answer (quota.ts). */
export const hasOutcome = (...outcomes: readonly string[]) => ({ outcome, retry_after }: Record<string, unknown>) =>
  outcome === "limited" ? Number.isInteger(retry_after) : outcomes.includes(outcome as string);
