/** What the pages about members are asked for: ids and roles of the right form, or a refusal. */
import type { GivenRole } from "../../../shared/db/members_store.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";

export const isGivenRole = (role: string | undefined): role is GivenRole =>
  role === "manager" || role === "member" || role === "viewer";

/** @throws {AppError} `not_found` unless the path names an organization. */
export function organizationOf(c: AppContext): string {
  const id = c.req.param("id") ?? "";
  if (!/^org_[0-9a-z]{1,32}$/.test(id)) throw noPage();
  return id;
}

/** @throws {AppError} `not_found` for what cannot be a person's id. */
export function memberOf(id: string | undefined): string {
  if (!isUuid(id)) throw noMember();
  return id;
}

export const isUuid = (id: string | undefined): id is string =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? "");

/** The same answer whether there is no such organization or they may not see it. */
export const noPage = () => new AppError("not_found", "no such page for them");
export const noMember = () => new AppError("not_found", "no such member", { says: ({ noMember }) => noMember });
export const notAllowed = () => new AppError("forbidden", "not their right", { says: ({ notTheirs }) => notTheirs });
