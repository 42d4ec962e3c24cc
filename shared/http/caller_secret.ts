/**
 * Shared secrets of callers, including the scheduler's: `Authorization: Bearer …` or `?secret=…`, either will do.
 */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
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
