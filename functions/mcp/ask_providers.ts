/**
 * Queries providers for the tool that fetches amounts. The service role reads the credentials, since no user may read
 * them, and sends each only to its provider.
 */
import type { FollowUpServices } from "../../shared/connector/tool.ts";
import { createCredentialStore } from "../../shared/db/credential_store.ts";
import type { Envelope } from "../../shared/credentials/envelope.ts";
import type { Deps } from "../../shared/deps.ts";
import { outsidePlace } from "../../shared/http/place.ts";
import { type Answer, createAsk, isAboutOneMonth, type PendingLink } from "../../shared/providers/ask.ts";
import { PROVIDERS, type Registry } from "../../shared/providers/registry.ts";

/** The limit for all months of a link, because a person is waiting. */
const DEADLINE_MS = 10_000;

export function createAskProviders(deps: Deps, registry: Registry = PROVIDERS): FollowUpServices["askProviders"] {
  const { config, database } = deps;
  const store = createCredentialStore(database);
  const ask = createAsk({
    ...deps,
    registry,
    keys: config.credentialsKeys,
    bases: config.providerBases,
  });
  return async (months, { progress, signal }) => {
    const byLink = Map.groupBy(months, ({ link_id }) => link_id);
    let done = 0;
    const report = () => progress?.({ progress: done, total: byLink.size });
    report();
    const envelopes = await store.readCredentials([...byLink.keys()]);
    const answers = new Map<PendingLink, Answer>();
    const endsAt = performance.now() + DEADLINE_MS;
    const askLink = async (months: readonly PendingLink[], envelope: Envelope | null) => {
      for (const month of months) {
        const deadlineMs = endsAt - performance.now();
        if (deadlineMs <= 0 || signal.aborted) return;
        const answer = await outsidePlace(() => ask({ ...month, envelope }, { deadlineMs }));
        answers.set(month, answer);
        if (!isAboutOneMonth(answer)) return;
      }
    };
    await Promise.all(Array.from(byLink, async ([linkId, months]) => {
      await askLink(months, envelopes.get(linkId) ?? null);
      done++;
      report();
    }));
    return months.map((month) => answers.get(month) ?? null);
  };
}
