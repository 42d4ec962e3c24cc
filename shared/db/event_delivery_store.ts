/** Events for apps: one sender claims each event and settles it. */
import * as z from "zod/mini";
import { HeardEvent, type Place } from "../events/occurrence.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

const ClaimedEvent = z.object({
  subscription_id: z.string(),
  url: z.string(),
  /** The secret of the webhook, sealed. */
  secret: z.unknown(),
  event: HeardEvent,
});
export type ClaimedEvent = z.infer<typeof ClaimedEvent>;

export const ANSWERS = {
  claim_event: z.nullable(ClaimedEvent),
  settle_event: z.unknown(),
};

/** Every method throws what `Database.call` throws. */
export function createEventDeliveryStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** An event that nobody else sends until the lease ends. */
    claim: ({ at }: { at: Date }) => ask("claim_event", { at }),

    settle: ({ subscriptionId, place, isDone, at }: {
      subscriptionId: string;
      place: Place;
      isDone: boolean;
      at: Date;
    }) => ask("settle_event", { subscription_id: subscriptionId, place, is_done: isDone, at }),
  };
}
