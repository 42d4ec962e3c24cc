/**
 * Batches over the mail service's HTTPS interface: at most 100 mails a call, one idempotency key for the call, remembered for 24 hours
 * (https://resend.com/docs/api-reference/emails/send-batch-emails, …/dashboard/emails/idempotency-keys).
 */
import type { Delivery, MailTransport, Outcome, OutgoingMail, Sending } from "./delivery.ts";

const ENDPOINT = "https://api.resend.com/emails/batch";
const BATCH_SIZE = 100;
const LONGEST_PAUSE_MS = 3600_000;
const SHORTEST_PAUSE_MS = 1_000;

export function resendTransport(
  { key, from, fetch }: { key: string; from: string; fetch: typeof globalThis.fetch },
): MailTransport {
  return {
    batchSize: BATCH_SIZE,
    close() {},
    async deliver(mails, sending) {
      let response: Response;
      let body: Answer;
      try {
        response = await fetch(ENDPOINT, requestOf(mails, { key, from, sending }));
        body = await response.json().catch(() => ({}));
      } catch {
        // It may have arrived: a timeout and a broken connection look the same before and after.
        return all(mails, "unsure", "mail_no_answer");
      }
      return deliveryOf(mails, response, body);
    },
  };
}

interface Answer {
  name?: string;
  /** Of a batch that was taken in part, what was not. */
  errors?: { index: number; message: string }[];
}

function requestOf(
  mails: readonly OutgoingMail[],
  { key, from, sending }: { key: string; from: string; sending: Sending },
): RequestInit {
  return {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": sending.key,
      // One bad address does not stop the others.
      "x-batch-validation": "permissive",
    },
    body: JSON.stringify(mails.map(({ to, subject, text, html, messageId, headers }) => ({
      from,
      to: [to],
      subject,
      text,
      html,
      headers: { "Message-ID": messageId, ...headers },
    }))),
    signal: AbortSignal.timeout(sending.timeoutMs),
  };
}

function deliveryOf(mails: readonly OutgoingMail[], response: Response, body: Answer): Delivery {
  const { status } = response;
  if (response.ok) {
    const refused = new Set(body.errors?.map(({ index }) => index));
    return {
      results: mails.map(({ id }, index) =>
        refused.has(index) ? { id, outcome: "dead", code: "address_refused", refused: true } : { id, outcome: "sent" }
      ),
    };
  }
  if (status === 429) {
    return { ...all(mails, "held", "mail_rate_limited"), pause: { code: "mail_rate_limited", ms: pauseOf(response) } };
  }
  if (status === 409) {
    // The key is known with other words (we were deployed in between): its mails were taken then. Or the first call is still running.
    return body.name === "invalid_idempotent_request"
      ? all(mails, "sent", "mail_known_key")
      : all(mails, "unsure", "mail_in_flight");
  }
  if (status === 400 || status === 422) {
    const [only] = mails;
    return mails.length === 1
      ? { results: [{ id: only!.id, outcome: "dead", code: "address_refused", refused: status === 422 }] }
      : { results: mails.map(({ id }) => ({ id, outcome: "held", code: "mail_refused", alone: true })) };
  }
  if (status < 500) {
    // The key or the sender's domain: nothing that another mail would change.
    return { ...all(mails, "held", "mail_not_allowed"), pause: { code: "mail_not_allowed", ms: LONGEST_PAUSE_MS } };
  }
  return all(mails, "unsure", "mail_unavailable");
}

const all = (mails: readonly OutgoingMail[], outcome: Outcome, code: string): Delivery => ({
  results: mails.map(({ id }) => ({ id, outcome, code })),
});

/** `retry-after` in seconds (RFC 9110 section 10.2.3); a date is as good as none, the service sends none. */
function pauseOf(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") || NaN);
  return Number.isFinite(seconds)
    ? Math.min(Math.max(seconds * 1000, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    : SHORTEST_PAUSE_MS;
}
