/**
 * The bearer token of a connector call, from the `Authorization` header and nowhere else: a token in a query string
 * ends up in logs (OAuth 2.1 §5.1.1), so one there counts as none.
 */
import { isAccessToken } from "../oauth/tokens.ts";

/** `b64token` of RFC 6750 §2.1. */
const B64_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

export type Bearer =
  | { kind: "absent" }
  /** Not the syntax of a bearer credential: the request is wrong, not the token. */
  | { kind: "malformed" }
  /** A well-formed credential that cannot be an access token of ours, as the database need not be asked to know. */
  | { kind: "foreign" }
  | { kind: "token"; token: string };

/** @param authorization value of the header; the scheme is case-insensitive (RFC 9110 §11.1). */
export function readBearer(authorization: string | undefined): Bearer {
  const credential = authorization?.match(/^bearer(?: +(.*))?$/i);
  if (!credential) return { kind: "absent" };
  const token = credential[1]?.trim() ?? "";
  if (token === "") return { kind: "absent" };
  if (!B64_TOKEN.test(token)) return { kind: "malformed" };
  return isAccessToken(token) ? { kind: "token", token } : { kind: "foreign" };
}
