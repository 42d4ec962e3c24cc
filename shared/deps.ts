/**
 * Dependencies of every function's app. `index.ts` wires the real ones; tests and the embedded stack pass their own.
 */
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/client.ts";
import type { Log } from "./log.ts";
import type { GuardedFetch } from "./net/guarded_fetch.ts";

export interface Deps {
  config: Config;
  database: Database;
  clock: Clock;
  log: Log;
  /** For URLs from our own configuration. */
  fetch: typeof fetch;
  /** For URLs that others chose. */
  guardedFetch: GuardedFetch;
}
