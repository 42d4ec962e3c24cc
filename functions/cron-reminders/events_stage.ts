/**
 * Sends events to apps. Each event is leased before sending and settled afterwards, like a mail. After a killed run,
 * the next one sends its events again with the same ids. A failing receiver delays only its own events.
 */
import { openCredential } from "../../shared/credentials/envelope.ts";
import { type ClaimedEvent, createEventDeliveryStore } from "../../shared/db/event_delivery_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { occurrenceOf } from "../../shared/events/occurrence.ts";
import { postEvent } from "../../shared/events/post_event.ts";
import { describeError } from "../../shared/log.ts";
import type { Stage } from "./stage.ts";

type SendingDeps = Pick<Deps, "config" | "database" | "clock" | "log" | "guardedFetch">;

/** The number of receivers served in parallel. An unresponsive one holds up only a tenth of the run. */
const AT_ONCE = 10;
/** Gone or too large: the receiver would refuse a retry too (SEP-3415). */
const FINAL = [410, 413];

/** @throws as the database calls do. */
export async function sendEvents(deps: SendingDeps, { remainingMs }: Stage): Promise<{ sent: number; failed: number }> {
  const store = createEventDeliveryStore(deps.database);
  const counts = { sent: 0, failed: 0 };
  const sendWaiting = async () => {
    while (remainingMs() > 0) {
      const claimed = await store.claim({ at: deps.clock() });
      if (!claimed) return;
      const outcome = await send(deps, claimed);
      counts[outcome === "sent" ? "sent" : "failed"]++;
      const { subscription_id: subscriptionId, event: { at, id } } = claimed;
      await store.settle({ subscriptionId, place: { at, id }, isDone: outcome !== "failed", at: deps.clock() });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sendWaiting));
  return counts;
}

/** Permanently `refused`. */
async function send(
  { config, guardedFetch, clock, log }: SendingDeps,
  { subscription_id: subscriptionId, url, secret: sealed, event }: ClaimedEvent,
): Promise<"sent" | "refused" | "failed"> {
  try {
    const { secret } = await openCredential(config.credentialsKeys, subscriptionId, sealed);
    const body = occurrenceOf(event);
    const answer = await postEvent(guardedFetch, {
      id: event.id,
      subscriptionId,
      url,
      secret: secret!,
      body,
      at: clock(),
    });
    if (!answer.ok) return "failed";
    if (FINAL.includes(answer.status)) return "refused";
    return answer.status >= 200 && answer.status < 300 ? "sent" : "failed";
  } catch (thrown) {
    log.error("event_not_sent", { code: "not_sent", error: describeError(thrown) });
    return "failed";
  }
}
