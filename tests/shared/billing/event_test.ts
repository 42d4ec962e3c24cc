import { assertEquals } from "@std/assert";
import { type EventEnvelope, eventTypes, paymentEvent } from "../../../local/payment_event.ts";
import { parseEvent, type PaymentEvent } from "../../../shared/billing/event.ts";

const parse = (value: unknown) => parseEvent(new TextEncoder().encode(JSON.stringify(value)));
const charged = async (change: (event: EventEnvelope, entity: Record<string, unknown>) => void) => {
  const event = await paymentEvent("subscription.charged");
  change(event, event.payload.subscription.entity);
  return parse(event);
};

const START = new Date("2026-01-01T00:00:00Z");
const SAMPLE: PaymentEvent = {
  type: "subscription.activated",
  status: "active",
  rank: 1,
  subscriptionId: "sub_00000000000001",
  providerPlanId: "plan_00000000000001",
  organizationId: "org_000000000001",
  occurredAt: START,
  periodEndsAt: new Date("2026-02-01T00:00:00Z"),
  paidCount: 1,
  authAttempts: 0,
};

const SAMPLES: Record<string, Partial<PaymentEvent>> = {
  "subscription.activated": {},
  "subscription.authenticated": { status: null, rank: 0, paidCount: 0, periodEndsAt: null },
  "subscription.cancelled": { status: "canceled", rank: 9 },
  "subscription.charged": { rank: 2, paidCount: 2 },
  "subscription.completed": { status: "canceled", rank: 9, paidCount: 12 },
  "subscription.expired": { status: "canceled", rank: 9, paidCount: 0, periodEndsAt: null, organizationId: null },
  "subscription.halted": { status: "past_due", rank: 4, authAttempts: 4 },
  "subscription.paused": { status: null, rank: 0 },
  "subscription.pending": { status: "past_due", rank: 3, authAttempts: 1, organizationId: null },
  "subscription.resumed": {},
  "subscription.updated": { status: null, rank: 0, providerPlanId: "plan_00000000000002" },
};

Deno.test("parseEvent() reads every documented sample", async () => {
  assertEquals(await eventTypes(), Object.keys(SAMPLES));
  for (const [type, expected] of Object.entries(SAMPLES)) {
    assertEquals(parse(await paymentEvent(type)), { ...SAMPLE, type, ...expected });
  }
});

Deno.test("parseEvent() accepts values in every form seen so far", async () => {
  const odd: [string, (event: EventEnvelope, entity: Record<string, unknown>) => void, Partial<PaymentEvent>][] = [
    ["counters as strings", (_, entity) => Object.assign(entity, { paid_count: "7", auth_attempts: "2" }), {
      paidCount: 7,
      authAttempts: 2,
    }],
    ["empty notes as an array", (_, entity) => entity.notes = [], { organizationId: null }],
    ["null notes", (_, entity) => entity.notes = null, { organizationId: null }],
    ["a foreign id in the notes", (_, entity) => entity.notes = { organization_id: crypto.randomUUID() }, {
      organizationId: null,
    }],
    ["created_at inside the payload", (event) => {
      event.payload.created_at = event.created_at;
      delete event.created_at;
    }, {}],
    ["no created_at at all", (event) => delete event.created_at, { occurredAt: null }],
    ["an instant beyond the calendar", (event) => event.created_at = 1e15, { occurredAt: null }],
    ["counters beyond an int", (_, entity) => entity.paid_count = 2 ** 31, { paidCount: 0 }],
    ["a negative counter", (_, entity) => entity.paid_count = -1, { paidCount: 0 }],
    ["a NUL in an id", (_, entity) => entity.id = "sub_\u0000", { subscriptionId: null }],
    ["a lone surrogate in an id", (_, entity) => entity.plan_id = "plan_\ud800", { providerPlanId: null }],
    ["an endless id", (_, entity) => entity.id = "s".repeat(65), { subscriptionId: null }],
  ];
  for (const [what, change, expected] of odd) {
    const expectedEvent = { ...SAMPLE, type: "subscription.charged", rank: 2, paidCount: 2, ...expected };
    assertEquals(await charged(change), expectedEvent, what);
  }
});

Deno.test("parseEvent() gives events of other kinds no effect, whatever their names", () => {
  for (const type of ["payment.captured", "constructor", "__proto__", "", "\u0000", "x".repeat(1000)]) {
    assertEquals(parse({ event: type, payload: null })?.status, null, type);
  }
});

Deno.test("parseEvent() rejects invalid events", () => {
  const read = (text: string) => parseEvent(new TextEncoder().encode(text));
  for (const text of ["", "{", "null", "[]", '"subscription.charged"', "{}", '{"event":1}', "[".repeat(200_000)]) {
    assertEquals(read(text), null, text.slice(0, 20));
  }
  assertEquals(parseEvent(new Uint8Array([0xff, 0xfe, 0x7b, 0x7d])), null, "not UTF-8");
});
