/** Wires the guarded fetch of a deployed function, in a separate file, so that it loads on first use. */
import type { Config } from "./config.ts";
import { createDenoNetwork } from "./net/deno_network.ts";
import { createGuardedFetch, type GuardedFetch } from "./net/guarded_fetch.ts";
import { refusedHosts } from "./net/guarded_url.ts";

export const productionFetch = (config: Config): GuardedFetch =>
  createGuardedFetch({ network: createDenoNetwork(), fetch, refusedHosts: refusedHosts(config) });
