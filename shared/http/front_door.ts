/** Verifies that a request comes from our own front door, by comparing secrets. */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import type { Config } from "../config.ts";
import { FRONT_DOOR_HEADER } from "../routes.ts";
import { sha256 } from "../std/sha256.ts";

/**
 * Whether any of `given` is one of `own`. Compares every pair, by digests of equal length, because timing must reveal
 * nothing.
 */
export function isOneOf(given: readonly string[], own: readonly string[]): boolean {
  const ownHashes = own.map(sha256);
  let known = false;
  for (const one of given.map(sha256)) for (const other of ownHashes) known = timingSafeEqual(one, other) || known;
  return known;
}

/** Whether the server in front of us is our own front door, whose headers can be trusted. */
export function isFromFrontDoor(headers: Headers, { frontDoorSecrets }: Pick<Config, "frontDoorSecrets">): boolean {
  const proof = headers.get(FRONT_DOOR_HEADER);
  return proof !== null && isOneOf([proof], frontDoorSecrets);
}
