/** What every function's app is built from; `index.ts` wires the real ones, tests and the embedded stack their own. */
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/client.ts";
import type { Log } from "./log.ts";

export interface Deps {
  config: Config;
  database: Database;
  clock: Clock;
  log: Log;
  fetch: typeof fetch;
}
