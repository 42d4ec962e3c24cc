/**
 * Queries providers for the tool that fetches amounts. Credentials are read with the service role, since no user may
 * read them, and are sent only to their provider.
 */
import type { FollowUpServices } from "../../shared/connector/tool.ts";
import { createCredentialStore } from "../../shared/db/credential_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { createAsk } from "../../shared/providers/ask.ts";
import type { Registry } from "../../shared/providers/registry.ts";

/** A person is waiting. */
const DEADLINE_MS = 10_000;

export function createAskProviders(deps: Deps, registry: Registry): FollowUpServices["askProviders"] {
  const { config, database } = deps;
  const store = createCredentialStore(database);
  const ask = createAsk({
    ...deps,
    registry,
    keys: config.credentialsKeys,
    bases: config.providerBases,
    reseal: store.resealCredential,
  });
  return async (links) => {
    const envelopes = await store.readCredentials(links.map(({ link_id }) => link_id));
    return await Promise.all(
      links.map((link) => ask({ ...link, envelope: envelopes.get(link.link_id) ?? null }, { deadlineMs: DEADLINE_MS })),
    );
  };
}
