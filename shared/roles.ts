/** What a member is in an organization; what each may do is in `identity.role_rights`. */
import * as z from "zod/mini";

export const Role = z.enum(["owner", "manager", "member", "viewer"]);
export type Role = z.infer<typeof Role>;
