/** What a member is in an organization; what each may do is in `identity.role_rights`. */
export type Role = "owner" | "manager" | "member" | "viewer";
