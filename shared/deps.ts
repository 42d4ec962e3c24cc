/** What every function's app is built from; `index.ts` wires the real ones, tests and the embedded stack their own. */
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
  /** For addresses out of our own configuration. */
  fetch: typeof fetch;
  /** For addresses that somebody else chose. */
  guardedFetch: GuardedFetch;
}
