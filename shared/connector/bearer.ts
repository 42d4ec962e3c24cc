/**
 * Reads the bearer token of a connector call. Only the `Authorization` header counts. A token in the query string is
 * ignored, because query strings end up in logs (OAuth 2.1 §5.1.1).
 */
import { isAccessToken } from "../oauth/tokens.ts";

/** `b64token` of RFC 6750 §2.1. */
const B64_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

export type Bearer =
  | { kind: "absent" }
  /** Not a bearer credential at all: the request is invalid, not the token. */
  | { kind: "malformed" }
  /** Well-formed, but not in the format of our tokens, so it needs no database lookup. */
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
