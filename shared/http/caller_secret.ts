/**
 * Shared secrets of callers, including the scheduler's: `Authorization: Bearer …` or `?secret=…`, either will do.
 */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { FRONT_DOOR_HEADER } from "../routes.ts";
import { sha256 } from "../std/sha256.ts";
import type { AppContext } from "./app.ts";

/**
 * Whether any of `given` is one of `own`. Compares digests of equal length, and every pair, so that timing reveals
 * nothing.
 */
export function isOneOf(given: readonly string[], own: readonly string[]): boolean {
  const ownHashes = own.map(sha256);
  let known = false;
  for (const one of given.map(sha256)) for (const other of ownHashes) known = timingSafeEqual(one, other) || known;
  return known;
}

/** Whether the server before us is our own front door, whose headers can be trusted. */
export function isFromFrontDoor(headers: Headers, { frontDoorSecrets }: Pick<Config, "frontDoorSecrets">): boolean {
  const proof = headers.get(FRONT_DOOR_HEADER);
  return proof !== null && isOneOf([proof], frontDoorSecrets);
}

/** @throws {AppError} `unauthorized`, without saying what was wrong. */
export function requireCronSecret(c: AppContext, { cronSecrets }: Pick<Config, "cronSecrets">): void {
  const bearer = /^Bearer +(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  const given = [bearer, ...(c.req.queries("secret") ?? [])].filter((secret) => secret !== undefined);
  if (!isOneOf(given, cronSecrets)) {
    throw new AppError("unauthorized", "The scheduler's secret is missing or wrong.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
}
