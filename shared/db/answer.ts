/** Distinguishes a valid database result from a malformed one. */
import * as z from "zod/mini";
import { AppError } from "../errors.ts";
import { OrganizationState } from "../organization_state.ts";
import type { CallOptions, Database } from "./client.ts";

/** The result of `identity.refuse_change`, which any call that makes a change may return. */
const Unchangeable = z.object({ outcome: z.literal("no_changes"), id: z.string(), state: OrganizationState });

/**
 * The schema of each function's result. Keys that it does not list are dropped, because the database may be newer than
 * the functions.
 */
export type Answers = Record<string, z.ZodMiniType>;

/**
 * @returns a function that calls the database. It throws what `Database.call` throws, `forbidden` when the
 * organization accepts no changes, and `unavailable` for a result that does not match the function's schema. A
 * malformed result never counts as a refusal, which could end somebody's session.
 */
export const asking =
  <Known extends Answers>(database: Database, answers: Known) =>
  async <Name extends keyof Known & string>(
    name: Name,
    args: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<z.infer<Known[Name]>> => {
    const answer = await database.call(name, args, options);
    const { success, data, error } = answers[name]!.safeParse(answer);
    if (success) return data as z.infer<Known[Name]>;
    const unchangeable = Unchangeable.safeParse(answer);
    if (unchangeable.success) throw takesNoChanges(unchangeable.data);
    // Logs only the paths that differ, because the rest is user data.
    const [{ code, path }] = error.issues as [z.core.$ZodIssue];
    throw new AppError("unavailable", "We couldn't reach our database.", {
      says: ({ databaseDown }) => databaseDown,
      cause: new Error(`${name} returned an unexpected answer: ${code} at ${path.join(".") || "its root"}`),
      headers: { "retry-after": "5" },
    });
  };

export const takesNoChanges = ({ id, state }: { id: string; state: OrganizationState }): AppError =>
  new AppError("forbidden", "the organization takes no changes", { unchangeable: { id, state } });
