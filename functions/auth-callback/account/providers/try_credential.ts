/** Queries a provider once for last month with a newly entered credential, exactly as later runs will. */
import type { Envelope } from "../../../../shared/credentials/envelope.ts";
import { outsidePlace } from "../../../../shared/http/place.ts";
import { type AskFailure, createAsk } from "../../../../shared/providers/ask.ts";
import { lastPeriod } from "../../../../shared/providers/period.ts";
import type { Provider } from "../../../../shared/providers/provider.ts";
import type { PageDeps } from "../../page_guards.ts";

const DEADLINE_MS = 10_000;

export type Trial =
  /** `isWaiting`: the provider accepted the credential but has no final amount yet. */
  | { outcome: "accepted"; isWaiting: boolean }
  | { outcome: Exclude<AskFailure, "not_ready">; retryAfterSeconds?: number | undefined };

export async function tryCredential(
  { config, fetch, guardedFetch, clock, log, providers }: PageDeps,
  { provider, linkId, envelope }: { provider: Provider; linkId: string; envelope: Envelope },
): Promise<Trial> {
  const ask = createAsk({
    registry: providers,
    keys: config.credentialsKeys,
    bases: config.providerBases,
    fetch,
    guardedFetch,
    clock,
    log,
  });
  const asked = { link_id: linkId, provider_key: provider.key, period: lastPeriod(clock()), envelope };
  const answer = await outsidePlace(() => ask(asked, { deadlineMs: DEADLINE_MS }));
  if (answer.outcome === "statement") return { outcome: "accepted", isWaiting: false };
  if (answer.code === "not_ready") return { outcome: "accepted", isWaiting: true };
  return { outcome: answer.code, retryAfterSeconds: answer.retry_after };
}
