/** Payment provider events with each field independently right or wrong. */
import fc from "fast-check";
import { hostileText, mostly } from "./texts.ts";

const TYPES = ["activated", "charged", "resumed", "pending", "halted", "cancelled", "completed", "expired", "updated"];

const subscription = fc.record({
  id: mostly(fc.constantFrom("sub_1", "sub_2")),
  plan_id: mostly(fc.constant("plan_team")),
  notes: fc.oneof(fc.dictionary(fc.constantFrom("organization_id", "org"), hostileText), fc.jsonValue()),
  paid_count: fc.oneof(fc.integer(), hostileText),
}, { requiredKeys: [] });

const event = fc.record({
  event: mostly(fc.constantFrom(...TYPES.map((type) => `subscription.${type}`))),
  created_at: fc.oneof(fc.integer(), fc.constantFrom(1_790_000_000, 4_102_444_800), hostileText),
  payload: fc.record({ subscription: fc.record({ entity: subscription }, { requiredKeys: [] }) }, { requiredKeys: [] }),
}, { requiredKeys: [] });

export const paymentEvent: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: event.map((event) => JSON.stringify(event)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: hostileText },
);
