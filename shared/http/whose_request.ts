/** Identifies a request's token and address before either is verified. */
import { readBearer } from "../connector/bearer.ts";
import type { Config } from "../config.ts";
import { hashToken } from "../oauth/tokens.ts";
import { readCaller } from "./caller.ts";

/** Lower-case hex SHA-256 of a text in the format of our tokens. */
export function tokenHash(headers: Headers): string | undefined {
  const bearer = readBearer(headers.get("authorization") ?? undefined);
  return bearer.kind === "token" ? hashToken(bearer.token) : undefined;
}

/** The caller's address, or one name for all callers without an address. */
export const callerName = (headers: Headers, config: Pick<Config, "frontDoorSecrets">): string =>
  readCaller(headers, config)?.name ?? "unknown";
