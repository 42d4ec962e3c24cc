/** Paths of the member pages. */
import { organizationPath } from "../../../shared/urls.ts";

export const membersPath = (organizationId: string, done?: string): string =>
  `${organizationPath(organizationId, "members")}${done ? `?done=${done}` : ""}`;

export const removeMemberPath = (organizationId: string, memberId: string): string =>
  `${organizationPath(organizationId, "members")}/remove?${new URLSearchParams({ member: memberId })}`;

export const handOverPath = (organizationId: string): string => `/organizations/${organizationId}/hand-over`;

export const invitationPath = (token: string): string => `/invitation?${new URLSearchParams({ t: token })}`;

/** The token in the path of an invitation; undefined for any other path. */
export function invitationTokenOf(path: string | undefined): string | undefined {
  if (!path?.startsWith("/invitation?")) return undefined;
  return new URLSearchParams(path.slice(path.indexOf("?") + 1)).get("t") ?? undefined;
}
