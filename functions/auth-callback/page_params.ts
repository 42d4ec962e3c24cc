/** Validates the ids in a page's path or form; a malformed id gets the same response as an unknown one. */
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";

/** @throws {AppError} `not_found` unless the path names an organization. */
export function organizationOf(c: AppContext): string {
  const id = c.req.param("id") ?? "";
  if (!/^org_[0-9a-z]{1,32}$/.test(id)) throw noPage();
  return id;
}

export const isUuid = (id: string | undefined): id is string =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? "");

/** The same response for an unknown organization and one without access. */
export const noPage = () => new AppError("not_found", "no such page for them");
