/**
 * The one scope there is. Requested scopes are not even read: clients ask for `offline_access`, `openid email profile`
 * or nothing at all depending on their version, and whatever they ask for, this and nothing more is what they get.
 */
export const SCOPE = "expenses:rw";

/** Advertised by the authorization server only: clients take it as the sign that refresh tokens are to be had. */
export const OFFLINE_ACCESS = "offline_access";
