/** Wires a deployed function: configuration from the environment, real time, the database over PostgREST. */
import { systemClock } from "./clock.ts";
import { type ConfigName, readConfig } from "./config.ts";
import { createDatabase } from "./db/client.ts";
import type { Deps } from "./deps.ts";
import { createLog } from "./log.ts";
import type { GuardedFetch } from "./net/guarded_fetch.ts";
import type { Slug } from "./routes.ts";
import { keep } from "./std/keep.ts";

/**
 * @param needs the configuration that this function requires.
 * @throws {ConfigError} naming every missing or malformed value at once.
 */
export function productionDeps(slug: Slug, needs: readonly ConfigName[]): Deps {
  const config = readConfig(Deno.env.toObject(), needs);
  const database = createDatabase({ url: config.supabaseUrl, key: config.serviceRoleKey });
  // Loads for the first URL of a client, which most instances never see.
  const loaded = keep(async () => (await import("./production_fetch.ts")).productionFetch(config));
  const guardedFetch: GuardedFetch = async (request) => (await loaded())(request);
  return { config, database, clock: systemClock, log: createLog(undefined, { function: slug }), fetch, guardedFetch };
}
