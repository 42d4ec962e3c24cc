/** Tells a valid database answer from a malformed one. */
import { AppError } from "../errors.ts";
import type { OrganizationState } from "../organization_state.ts";
import type { Database } from "./client.ts";

/** As `identity.refuse_change` answers it; any call that changes something may. */
interface Unchangeable {
  outcome: "no_changes";
  id: string;
  state: OrganizationState;
}

/**
 * @param isOne recognizes a valid answer.
 * @throws {AppError} `forbidden` when the organization takes no changes; `unavailable` for a malformed answer, never a
 *   refusal: it must not end anyone's session.
 */
export function expectAnswer<Answer>(
  name: string,
  answer: unknown,
  isOne: (answer: Record<string, unknown>) => boolean,
): Answer {
  if (typeof answer === "object" && answer !== null) {
    if ((answer as Unchangeable).outcome === "no_changes") throw takesNoChanges(answer as Unchangeable);
    if (isOne(answer as Record<string, unknown>)) return answer as Answer;
  }
  throw new AppError("unavailable", "We couldn't reach our database.", {
    says: ({ databaseDown }) => databaseDown,
    cause: new Error(`${name} returned an unexpected answer`),
    headers: { "retry-after": "5" },
  });
}

export const takesNoChanges = ({ id, state }: Omit<Unchangeable, "outcome">): AppError =>
  new AppError("forbidden", "the organization takes no changes", { unchangeable: { id, state } });

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
