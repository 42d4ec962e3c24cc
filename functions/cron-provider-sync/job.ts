/** Dependencies of a run: its stores and providers. */
import { createCredentialStore } from "../../shared/db/credential_store.ts";
import { createRecordRun } from "../../shared/db/job_run_store.ts";
import { createProviderStore } from "../../shared/db/provider_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { createAsk } from "../../shared/providers/ask.ts";
import { PROVIDERS, type Registry } from "../../shared/providers/registry.ts";
import { resealCredentials } from "./reseal_credentials.ts";
import type { Job } from "./run.ts";

export function createJob(deps: Deps, registry: Registry = PROVIDERS): Job {
  const { config, database, clock, log } = deps;
  return {
    store: createProviderStore(database),
    recordRun: createRecordRun(database, "provider-sync"),
    reseal: (remainingMs) =>
      resealCredentials(
        { store: createCredentialStore(database), keys: config.credentialsKeys, clock, log },
        remainingMs,
      ),
    ask: createAsk({ ...deps, registry, keys: config.credentialsKeys, bases: config.providerBases }),
    clock,
    log,
  };
}
