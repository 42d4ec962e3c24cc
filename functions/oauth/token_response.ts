/** The successful response of both grants (RFC 6749 §5.1). */
import type { AppContext } from "../../shared/http/app.ts";
import { SCOPE } from "../../shared/oauth/scope.ts";
import type { TokenPair } from "../../shared/oauth/tokens.ts";
import { NO_STORE } from "./errors.ts";

/** Includes every member and never null: clients keep their old token if one is missing, and fail on null. */
export function tokenResponse(c: AppContext, { accessToken, refreshToken }: TokenPair, expiresIn: number): Response {
  const body = {
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: expiresIn,
    refresh_token: refreshToken,
    scope: SCOPE,
  };
  return c.json(body, 200, NO_STORE);
}
