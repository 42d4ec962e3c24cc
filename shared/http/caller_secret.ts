/**
 * Shared secrets of callers, including the scheduler's: `Authorization: Bearer …` or `?secret=…`, either will do.
 */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AppContext } from "./app.ts";

const sha256 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/**
 * Whether any of `given` is one of `own`. Compares digests of equal length, and every pair, so that timing reveals
 * nothing.
 */
export async function isOneOf(given: readonly string[], own: readonly string[]): Promise<boolean> {
  const [givenHashes, ownHashes] = await Promise.all([given, own].map((list) => Promise.all(list.map(sha256))));
  let known = false;
  for (const one of givenHashes!) for (const other of ownHashes!) known = timingSafeEqual(one, other) || known;
  return known;
}

/** @throws {AppError} `unauthorized`, without saying what was wrong. */
export async function requireCronSecret(c: AppContext, { cronSecrets }: Pick<Config, "cronSecrets">): Promise<void> {
  const bearer = /^Bearer +(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  const given = [bearer, ...(c.req.queries("secret") ?? [])].filter((secret) => secret !== undefined);
  if (!await isOneOf(given, cronSecrets)) {
    throw new AppError("unauthorized", "The scheduler's secret is missing or wrong.", {
      headers: { "www-authenticate": "Bearer" },
    });
  }
}
