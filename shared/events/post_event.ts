/** Posts to an app's webhook, signed according to Standard Webhooks 1.0.0. */
import { Buffer } from "node:buffer";
import type { GuardedAnswer, GuardedFetch } from "../net/guarded_fetch.ts";
import { hmacSha256 } from "../std/sha256.ts";

const DEADLINE_MS = 5_000;
/** The limit for an answer, whose content matters only for a challenge. */
const MAX_BYTES = 4096;

export interface Post {
  /** The same for each attempt of an event. */
  id: string;
  subscriptionId: string;
  url: string;
  /** `whsec_` and base64. */
  secret: string;
  body: unknown;
  at: Date;
}

/** @throws for a malformed secret (see {@link keyOf}), never for the receiver's failures */
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
      "webhook-signature": `v1,${sign(secret, `${id}.${timestamp}.${text}`)}`,
      "x-mcp-subscription-id": subscriptionId,
    },
    maxBytes: MAX_BYTES,
    deadlineMs: DEADLINE_MS,
  });
}

/** The key in a secret; undefined when it is not 24 to 64 bytes of base64 after `whsec_`. */
export function keyOf(secret: string): Buffer | undefined {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const key = Buffer.from(text ?? "", "base64");
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

function sign(secret: string, text: string): string {
  const key = keyOf(secret);
  if (!key) throw new Error("a webhook's secret is malformed");
  return hmacSha256(key, text).toString("base64");
}
