/** Gives the access token of an answer the claims that the real identity provider puts into it; lite leaves most of them out. */
import { decode, sign } from "hono/jwt";

interface SessionAnswer {
  access_token?: string;
  user?: { app_metadata: unknown; user_metadata: unknown; phone?: string; is_anonymous?: boolean };
}

/**
 * @param issuer base address of the identity provider, `…/auth/v1`.
 * @param method how the person signed in, for the claim `amr`.
 */
export async function withRealClaims(
  answer: SessionAnswer,
  options: { issuer: string; jwtSecret: string; method: "otp" | "password" },
): Promise<SessionAnswer> {
  if (!answer.access_token || !answer.user) return answer;
  const { payload } = decode(answer.access_token);
  const claims = {
    iss: options.issuer,
    ...payload,
    phone: answer.user.phone ?? "",
    app_metadata: answer.user.app_metadata,
    user_metadata: answer.user.user_metadata,
    aal: "aal1",
    amr: [{ method: options.method, timestamp: payload.iat }],
    is_anonymous: answer.user.is_anonymous ?? false,
  };
  return { ...answer, access_token: await sign(claims, options.jwtSecret, "HS256") };
}
