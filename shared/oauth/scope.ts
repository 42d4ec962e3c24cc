/**
 * The only scope. Clients ask for `offline_access`, `openid email profile` or nothing, depending on their version, and
 * always get this one. Requested scopes only preselect the app's access (access.ts).
 */
export const SCOPE = "expenses:rw";

/** Only the authorization server advertises it. It tells clients that the server issues refresh tokens. */
export const OFFLINE_ACCESS = "offline_access";
