/**
 * Batches over the mail service's HTTPS interface: at most 100 mails a call, one idempotency key for the call, remembered for 24 hours
 * (https://resend.com/docs/api-reference/emails/send-batch-emails, …/dashboard/emails/idempotency-keys).
 */
import type { Delivery, MailResult, MailTransport, Outcome, OutgoingMail, Sending } from "./delivery.ts";

const ENDPOINT = "https://api.resend.com/emails/batch";
const BATCH_SIZE = 100;
const LONGEST_PAUSE_MS = 3600_000;
const SHORTEST_PAUSE_MS = 1_000;
const NOT_ALLOWED_PAUSE = { code: "mail_not_allowed", ms: LONGEST_PAUSE_MS };

export function resendTransport(
  { key, from, fetch }: { key: string; from: string; fetch: typeof globalThis.fetch },
): MailTransport {
  return {
    batchSize: BATCH_SIZE,
    close() {},
    async deliver(mails, sending) {
      let response: Response;
      let body: unknown;
      try {
        response = await fetch(ENDPOINT, requestOf(mails, { key, from, sending }));
        body = await response.json().catch(() => undefined);
      } catch {
        // It may have arrived: a timeout and a broken connection look the same before and after.
        return all(mails, "unsure", "mail_no_answer");
      }
      return deliveryOf(mails, response, body);
    },
  };
}

/** What a mail or a call was refused for; its message names the field, as in "Invalid `to` field." */
interface Refusal {
  name: string;
  message: string;
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

function deliveryOf(mails: readonly OutgoingMail[], response: Response, body: unknown): Delivery {
  const { status } = response;
  if (response.ok) return deliveryOfTaken(mails, body);
  const refusal = readRefusal(body);
  if (status === 429) {
    return { ...all(mails, "held", "mail_rate_limited"), pause: { code: "mail_rate_limited", ms: pauseOf(response) } };
  }
  if (status === 409) {
    // The key is known with other words (we were deployed in between): its mails were taken then. Or the first call is still running.
    return refusal.name === "invalid_idempotent_request"
      ? all(mails, "sent", "mail_known_key")
      : all(mails, "unsure", "mail_in_flight");
  }
  if (status === 400 || status === 413 || status === 422) {
    if (fieldOf(refusal) === "from") return notAllowed(mails);
    const [only] = mails;
    return mails.length === 1
      ? { results: [refused(only!.id, refusal)] }
      : { results: mails.map(({ id }) => ({ id, outcome: "held", code: "mail_refused", alone: true })) };
  }
  // The key or the sender's domain: nothing that another mail would change.
  return status < 500 ? notAllowed(mails) : all(mails, "unsure", "mail_unavailable");
}

/** An answer that cannot be read says nothing; the same key tells later. */
function deliveryOfTaken(mails: readonly OutgoingMail[], body: unknown): Delivery {
  const refusals = readRefusals(body, mails.length);
  if (!refusals) return all(mails, "unsure", "mail_no_answer");
  if (mails.length > 1 && refusals.size === mails.length) return noneTaken(mails, [...refusals.values()]);
  const isBarred = [...refusals.values()].some((refusal) => fieldOf(refusal) === "from");
  return {
    results: mails.map(({ id }, index) => {
      const refusal = refusals.get(index);
      if (!refusal) return { id, outcome: "sent" };
      return fieldOf(refusal) === "from" ? { id, outcome: "held", code: "mail_not_allowed" } : refused(id, refusal);
    }),
    ...(isBarred && { pause: NOT_ALLOWED_PAUSE }),
  };
}

/** Of a batch that was taken in part what was not, by its place; null when it cannot be read. */
function readRefusals(body: unknown, count: number): Map<number, Refusal> | null {
  if (!isObject(body)) return null;
  const errors = body.errors ?? [];
  if (!Array.isArray(errors)) return null;
  const refusals = new Map<number, Refusal>();
  for (const error of errors) {
    const index = isObject(error) ? error.index : undefined;
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) return null;
    refusals.set(index, readRefusal(error));
  }
  return refusals;
}

/** What cannot be read is empty. */
function readRefusal(value: unknown): Refusal {
  const { name, message } = isObject(value) ? value : {};
  return { name: typeof name === "string" ? name : "", message: typeof message === "string" ? message : "" };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** It is likelier that we may not send than that nobody can be sent to; where all addresses are said to be bad, each is tried alone. */
function noneTaken(mails: readonly OutgoingMail[], refusals: readonly Refusal[]): Delivery {
  const delivery = notAllowed(mails);
  if (!refusals.every((refusal) => fieldOf(refusal) === "to")) return delivery;
  return { ...delivery, results: delivery.results.map((result) => ({ ...result, alone: true })) };
}

/** Whose field a refusal names; a domain that is not verified is the sender's. */
function fieldOf({ name, message }: Refusal): "from" | "to" | undefined {
  if (name === "invalid_from_address" || /[`'"]from[`'"]|domain is not verified/i.test(message)) return "from";
  return /[`'"]to[`'"]/i.test(message) ? "to" : undefined;
}

/** One mail that is not taken: for its address, or for something else in it. */
const refused = (id: string, refusal: Refusal): MailResult =>
  fieldOf(refusal) === "to"
    ? { id, outcome: "dead", code: "address_refused", refused: true }
    : { id, outcome: "dead", code: "mail_refused" };

const notAllowed = (mails: readonly OutgoingMail[]): Delivery => ({
  ...all(mails, "held", "mail_not_allowed"),
  pause: NOT_ALLOWED_PAUSE,
});

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
