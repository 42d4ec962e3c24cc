/** Sends a receiver a random text to repeat, which proves that it wants an app's events. */
import { parseJson } from "../../../shared/parse_json.ts";
import { type Post, postEvent } from "../../../shared/events/post_event.ts";
import type { GuardedFetch } from "../../../shared/net/guarded_fetch.ts";

/** @returns the reason for a failure, in the extension's terms; undefined if the receiver repeated the text */
export async function challenge(
  fetch: GuardedFetch,
  receiver: Omit<Post, "id" | "body">,
): Promise<string | undefined> {
  const text = crypto.randomUUID();
  const answer = await postEvent(fetch, {
    ...receiver,
    id: `msg_verification_${crypto.randomUUID()}`,
    body: { type: "verification", challenge: text },
  });
  if (!answer.ok) return REASONS[answer.reason] ?? "connection_refused";
  if (answer.status >= 500) return "http_5xx";
  if (answer.status >= 400) return "http_4xx";
  const said = parseJson(new TextDecoder().decode(answer.body)) as { challenge?: unknown } | null | undefined;
  return answer.status < 300 && said?.challenge === text ? undefined : "challenge_failed";
}

const REASONS: Partial<Record<string, string>> = { timed_out: "timeout", tls_failed: "tls_error" };
