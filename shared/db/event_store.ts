/** Events that an app may read with its token. */
import * as z from "zod/mini";
import type { Envelope } from "../credentials/envelope.ts";
import { HeardEvent, Place } from "../events/occurrence.ts";
import { either, outcome } from "../outcome.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { Refusal } from "./connector_store.ts";

export const ANSWERS = {
  poll_events: either(
    outcome(["ok"], { events: z.array(HeardEvent), has_more: z.boolean(), place: Place, truncated: z.boolean() }),
    Refusal,
  ),
  find_event_subscription: either(outcome(["ok"], { id: z.string() }), outcome(["stopped", "too_many"]), Refusal),
  keep_event_subscription: either(
    outcome(["ok"], { place: Place, truncated: z.boolean() }),
    outcome(["stopped", "too_many"]),
    Refusal,
  ),
  drop_event_subscription: either(outcome(["ok", "unknown"]), Refusal),
};

/** The key of a subscription, in addition to its grant. */
interface Subscription {
  tokenHash: string;
  name: string;
  url: string;
  at: Date;
}

/** Every method throws what `Database.call` throws. */
export function createEventStore({ database, resource }: { database: Database; resource: string }) {
  const ask = asking(database, ANSWERS);
  return {
    poll: ({ tokenHash, name, after, atMost, at }: {
      tokenHash: string;
      name: string;
      after: Place | null;
      atMost: number;
      at: Date;
    }) =>
      ask("poll_events", { token_hash: tokenHash, resource, name, after, at_most: atMost, at: at.toISOString() }, {
        isRead: true,
      }),

    find: ({ tokenHash, name, url, at }: Subscription) =>
      ask("find_event_subscription", { token_hash: tokenHash, resource, name, url, at: at.toISOString() }),

    keep: ({ tokenHash, name, url, secret, after, expiresAt, at }: Subscription & {
      secret: Envelope;
      after: Place | null;
      expiresAt: Date;
    }) =>
      ask("keep_event_subscription", {
        token_hash: tokenHash,
        resource,
        name,
        url,
        secret,
        after,
        expires_at: expiresAt.toISOString(),
        at: at.toISOString(),
      }),

    drop: ({ tokenHash, name, url, at }: Subscription) =>
      ask("drop_event_subscription", { token_hash: tokenHash, resource, name, url, at: at.toISOString() }),
  };
}
