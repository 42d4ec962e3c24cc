/** Validates the people and roles in requests to the member pages. */
import type { GivenRole } from "../../../shared/db/members_store.ts";
import { AppError } from "../../../shared/errors.ts";
import { isUuid } from "../page_params.ts";

export const isGivenRole = (role: string | undefined): role is GivenRole =>
  role === "manager" || role === "member" || role === "viewer";

/** @throws {AppError} `not_found` for a malformed id. */
export function memberOf(id: string | undefined): string {
  if (!isUuid(id)) throw noMember();
  return id;
}

export const noMember = () => new AppError("not_found", "no such member", { says: ({ noMember }) => noMember });
export const notAllowed = () => new AppError("forbidden", "not their right", { says: ({ notTheirs }) => notTheirs });
