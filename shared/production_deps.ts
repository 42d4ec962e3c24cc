/** Wires a deployed function: configuration from the environment, real time, the database over PostgREST. */
import { systemClock } from "./clock.ts";
import { type ConfigName, readConfig } from "./config.ts";
import { createDatabase } from "./db/client.ts";
import type { Deps } from "./deps.ts";
import { createLog } from "./log.ts";
import { createDenoNetwork } from "./net/deno_network.ts";
import { createGuardedFetch } from "./net/guarded_fetch.ts";
import { refusedHosts } from "./net/guarded_url.ts";
import type { Slug } from "./routes.ts";

/**
 * @param needs the configuration this function requires.
 * @throws {ConfigError} naming every missing or malformed value at once.
 */
export function productionDeps(slug: Slug, needs: readonly ConfigName[]): Deps {
  const config = readConfig(Deno.env.toObject(), needs);
  const database = createDatabase({ url: config.supabaseUrl, key: config.serviceRoleKey });
  const network = createDenoNetwork();
  const guardedFetch = createGuardedFetch({ network, fetch, refusedHosts: refusedHosts(config) });
  return { config, database, clock: systemClock, log: createLog(undefined, { function: slug }), fetch, guardedFetch };
}
