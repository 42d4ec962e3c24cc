/**
 * The only scope: clients ask for `offline_access`, `openid email profile` or nothing, depending on their version, and
 * always get this one. Requested scopes only preselect the app's access (access.ts).
 */
export const SCOPE = "expenses:rw";

/** Advertised by the authorization server only: clients take it as a sign that refresh tokens are issued. */
export const OFFLINE_ACCESS = "offline_access";
