/** Posts to an app's webhook, signed according to Standard Webhooks 1.0.0. */
import type { GuardedAnswer, GuardedFetch } from "../net/guarded_fetch.ts";
import { signWebhook } from "../webhooks/standard.ts";

const DEADLINE_MS = 5_000;
/** The limit for a response. Only a challenge's response matters. */
const MAX_BYTES = 4096;

export interface Post {
  /** Equal for all attempts of an event. */
  id: string;
  subscriptionId: string;
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  body: unknown;
  at: Date;
}

/** @throws for a malformed secret (see `keyOf`), never for the receiver's failures */
export async function postEvent(
  fetch: GuardedFetch,
  { id, subscriptionId, url, secret, body, at }: Post,
): Promise<GuardedAnswer> {
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return await fetch({
    url,
    body: text,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signWebhook(secret, { id, timestamp, body: text })}`,
      "x-mcp-subscription-id": subscriptionId,
    },
    maxBytes: MAX_BYTES,
    deadlineMs: DEADLINE_MS,
  });
}
