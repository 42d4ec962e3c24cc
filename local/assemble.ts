/** Loads the functions into this process, with OpenTelemetry if the environment turns it on. */
import type { Config, Environment } from "../shared/config.ts";
import type { Deps } from "../shared/deps.ts";
import { createLog } from "../shared/log.ts";
import { createDenoNetwork } from "../shared/net/deno_network.ts";
import { createGuardedFetch } from "../shared/net/guarded_fetch.ts";
import { refusedHosts } from "../shared/net/guarded_url.ts";
import type { FunctionsHandler } from "./functions.ts";
import { openTelemetry } from "./telemetry.ts";

/** Settings that every stack needs. */
export const NEEDED: readonly (keyof Config)[] = [
  "siteUrl",
  "supabaseUrl",
  "publishableKey",
  "serviceRoleKey",
  "codeSecrets",
  "cronSecrets",
  "credentialsKeys",
];

/** @param writeLine receives the log lines; standard error by default. */
export async function assembleFunctions(
  common: Pick<Deps, "config" | "database" | "clock" | "fetch">,
  { env, writeLine }: { env: Environment; writeLine?: ((line: string) => void) | undefined },
): Promise<FunctionsHandler> {
  const { createFunctions } = await import("./functions.ts");
  const guardedFetch = createGuardedFetch({
    network: createDenoNetwork(),
    fetch,
    refusedHosts: refusedHosts(common.config),
  });
  const telemetry = openTelemetry(env as Record<string, string>);
  const functions = createFunctions((slug) => {
    const deps = { ...common, log: createLog(writeLine, { function: slug }), guardedFetch };
    return telemetry ? telemetry.watch(deps) : deps;
  });
  return telemetry ? telemetry.trace(functions) : functions;
}
