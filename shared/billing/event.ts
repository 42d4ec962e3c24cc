/**
 * Reads a payment event from a verified body. It reads only the fields that decide about plans, in every form that the
 * provider has been seen to send; the rest contains personal and card data. Unreadable fields become null.
 */
import { effectOf, type SubscriptionStatus } from "./effects.ts";

export interface PaymentEvent {
  type: string;
  /** Null for kinds without an effect. */
  status: SubscriptionStatus | null;
  rank: number;
  subscriptionId: string | null;
  providerPlanId: string | null;
  /** `org_…` from the notes, which anybody who can edit the subscription can write. */
  organizationId: string | null;
  occurredAt: Date | null;
  periodEndsAt: Date | null;
  paidCount: number;
  authAttempts: number;
}

/** The event, or null when the body is not UTF-8 JSON or not an event. */
export function parseEvent(body: BufferSource): PaymentEvent | null {
  const envelope = parseObject(body);
  if (typeof envelope?.event !== "string") return null;
  const payload = asObject(envelope.payload);
  const subscription = asObject(asObject(payload.subscription).entity);
  const effect = effectOf(envelope.event);
  return {
    type: asWord(envelope.event, 100) ?? "unreadable",
    status: effect?.status ?? null,
    rank: effect?.rank ?? 0,
    subscriptionId: asWord(subscription.id, 64),
    providerPlanId: asWord(subscription.plan_id, 64),
    organizationId: asOrganizationId(asObject(subscription.notes).organization_id),
    // One of the provider's own samples nests it inside `payload`.
    occurredAt: asInstant(envelope.created_at) ?? asInstant(payload.created_at),
    periodEndsAt: asInstant(subscription.current_end),
    paidCount: asCount(subscription.paid_count),
    authAttempts: asCount(subscription.auth_attempts),
  };
}

type JsonObject = Record<string, unknown>;

function parseObject(body: BufferSource): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Empty `notes` arrive as `[]`, missing parts as null. */
const asObject = (value: unknown): JsonObject => isObject(value) ? value : {};

/** Printable ASCII only, because Postgres stores neither NUL nor a lone surrogate. */
const asWord = (value: unknown, longest: number) =>
  typeof value === "string" && value.length <= longest && /^[\x21-\x7e]+$/.test(value) ? value : null;

const asOrganizationId = (value: unknown) =>
  typeof value === "string" && /^org_[0-9a-z]{8,32}$/.test(value) ? value : null;

/** Whole numbers arrive as numbers or, in some samples, as digit strings. */
function asInteger(value: unknown, largest: number): number | null {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && number >= 0 && number <= largest ? Math.trunc(number) : null;
}

/** The maximum of a Postgres `int`. */
const asCount = (value: unknown) => asInteger(value, 2_147_483_647) ?? 0;

/** The end of the year 9999, in seconds. */
const LAST_SECOND = 253_402_300_799;

function asInstant(value: unknown): Date | null {
  const seconds = asInteger(value, LAST_SECOND);
  return seconds === null ? null : new Date(seconds * 1000);
}
