/** A member's role in an organization; `identity.role_rights` has the rights of each. */
import * as z from "zod/mini";

export const Role = z.enum(["owner", "manager", "member", "viewer"]);
export type Role = z.infer<typeof Role>;
