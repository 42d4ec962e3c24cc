/**
 * Sends batches over the mail service's HTTPS API: at most 100 mails per call, with one idempotency key per call, valid
 * for 24 hours (https://resend.com/docs/api-reference/emails/send-batch-emails, …/dashboard/emails/idempotency-keys).
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
        // The mail may have arrived, because a timeout or a broken connection doesn't prove the opposite.
        return all(mails, "unsure", "mail_no_answer");
      }
      return deliveryOf(mails, response, body);
    },
  };
}

/** Why a mail or a call was refused; the message names the field, as in "Invalid `to` field." */
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
    // The service knows the key with a different body, because of a deployment in between, so it accepted those
    // mails. Or the first call is still running.
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
  // A problem with the key or the sender's domain would affect every mail.
  return status < 500 ? notAllowed(mails) : all(mails, "unsure", "mail_unavailable");
}

/** Retry an unreadable response with the same key. */
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

/**
 * The rejected mails of a partly accepted batch, by index. Null when the response is unreadable, or when its numbers
 * of accepted and rejected mails don't add up, which means that it can't be the mail service's.
 */
function readRefusals(body: unknown, count: number): Map<number, Refusal> | null {
  if (!isObject(body)) return null;
  const [errors, taken] = [body.errors ?? [], body.data ?? []];
  if (!Array.isArray(errors) || !Array.isArray(taken) || taken.length + errors.length !== count) return null;
  const refusals = new Map<number, Refusal>();
  for (const error of errors) {
    const index = isObject(error) ? error.index : undefined;
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) return null;
    refusals.set(index, readRefusal(error));
  }
  return refusals;
}

/** Unreadable fields become empty. */
function readRefusal(value: unknown): Refusal {
  const { name, message } = isObject(value) ? value : {};
  return { name: typeof name === "string" ? name : "", message: typeof message === "string" ? message : "" };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * If every mail was rejected, the sender is more likely at fault than all recipients. If every address counts as
 * invalid, each is retried on its own.
 */
function noneTaken(mails: readonly OutgoingMail[], refusals: readonly Refusal[]): Delivery {
  const delivery = notAllowed(mails);
  if (!refusals.every((refusal) => fieldOf(refusal) === "to")) return delivery;
  return { ...delivery, results: delivery.results.map((result) => ({ ...result, alone: true })) };
}

/** The field of a refusal; an unverified domain is the sender's fault. */
function fieldOf({ name, message }: Refusal): "from" | "to" | undefined {
  if (name === "invalid_from_address" || /[`'"]from[`'"]|domain is not verified/i.test(message)) return "from";
  return /[`'"]to[`'"]/i.test(message) ? "to" : undefined;
}

/** The outcome of one rejected mail, by the rejected part. */
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

/** `retry-after` in seconds (RFC 9110 section 10.2.3). The service never sends a date, so dates are ignored. */
function pauseOf(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") || NaN);
  return Number.isFinite(seconds)
    ? Math.min(Math.max(seconds * 1000, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    : SHORTEST_PAUSE_MS;
}
