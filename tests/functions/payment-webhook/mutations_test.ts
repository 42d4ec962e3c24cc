/**
 * 10,000 mutated deliveries by strangers and by holders of the secret, over a real database: no unsigned one reaches
 * the database, and no signed one breaks it.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { paymentEvent } from "../../../local/payment_event.ts";
import { signBody } from "../../../shared/billing/signature.ts";
import { addOrganization, ORGANIZATION, planOf, resetBilling } from "../../_support/billing.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { createWebhook, SECRET } from "./harness.ts";

const MUTATIONS = 10_000;
/** Signed ones cost a transaction each. */
const SIGNED = Deno.env.get("TEST_DATABASE_URL") ? 5_000 : 1_000;

const database = await sharedDatabase();

let calls = 0;
const webhook = createWebhook({
  database: {
    call(name, args) {
      calls++;
      return database.asService(name, args);
    },
  },
});

const EVENT = await paymentEvent("subscription.charged", { organizationId: ORGANIZATION });
const BODY = new TextEncoder().encode(JSON.stringify(EVENT));
const SIGNATURE = await signBody(BODY, SECRET);

const at = fc.nat({ max: BODY.length - 1 });
const otherBody = fc.oneof(
  fc.tuple(at, fc.integer({ min: 1, max: 255 })).map(([index, bits]) =>
    BODY.map((byte, i) => i === index ? byte ^ bits : byte)
  ),
  at.map((length) => BODY.slice(0, length)),
  fc.tuple(at, fc.uint8Array({ minLength: 1, maxLength: 20 })).map(([index, more]) =>
    new Uint8Array([...BODY.slice(0, index), ...more, ...BODY.slice(index)])
  ),
  fc.constantFrom("\t", "  ", 2).map((indent) => new TextEncoder().encode(JSON.stringify(EVENT, null, indent))),
  fc.uint8Array({ maxLength: 300 }),
);
const otherSignature = fc.oneof(
  fc.nat({ max: 63 }).map((index) => SIGNATURE.slice(0, index) + SIGNATURE.slice(index + 1)),
  fc.tuple(fc.nat({ max: 63 }), fc.constantFrom(..."0123456789abcdefABCDEFg -")).map(([index, char]) =>
    SIGNATURE.slice(0, index) + char + SIGNATURE.slice(index + 1)
  ),
  fc.constantFrom(SIGNATURE.toUpperCase(), `0x${SIGNATURE}`, `${SIGNATURE},${SIGNATURE}`, "", "null", "[]"),
  fc.stringMatching(/^[\x21-\x7e]{0,80}$/),
);
const name = fc.constantFrom("x-payment-signature", "x-razorpay-signature", "X-PAYMENT-SIGNATURE");
const unsigned = fc.oneof(
  fc.record({ body: otherBody, signature: fc.constant(SIGNATURE), name }),
  fc.record({ body: fc.constant(BODY), signature: otherSignature, name }),
  fc.record({ body: otherBody, signature: otherSignature, name }),
  fc.record({
    body: fc.constant(BODY),
    signature: fc.constant(SIGNATURE),
    name: fc.constantFrom("signature", "x-sig"),
  }),
).filter(({ body, signature, name }) =>
  signature !== SIGNATURE || !name.toLowerCase().endsWith("-signature") || !sameBytes(body, BODY)
);

const sameBytes = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Values that trip up parsers and databases. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, [], {}, "", 0, -1, 1e308, 1e-7, 2 ** 53, true, "0", "-1", "NaN", "\u0000", "\ud800", "org_000000000002"],
    ...["sub_00000000000001", "constructor", "' or 1=1 --", "plan_00000000000002", { __proto__: null, toString: 1 }],
    JSON.parse('{"__proto__":{"event":"subscription.charged"}}'),
    JSON.parse("[".repeat(5_000) + "]".repeat(5_000)),
  ),
  fc.jsonValue(),
  fc.string({ unit: "binary", maxLength: 200 }),
);

/** Paths into the event, each with a replacement value. */
const PATHS = pathsOf(EVENT);
const changes = fc.array(fc.record({ path: fc.constantFrom(...PATHS), value: odd }), { minLength: 1, maxLength: 3 });

function pathsOf(value: unknown): string[][] {
  if (typeof value !== "object" || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, child]) => pathsOf(child).map((path) => [key, ...path]))];
}

function changed(value: unknown, path: string[], replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (typeof value !== "object" || value === null) return value;
  return { ...value, [key]: changed((value as Record<string, unknown>)[key], rest, replacement) };
}

Deno.test(`${MUTATIONS - SIGNED} unsigned deliveries change nothing`, async () => {
  await resetBilling(database);
  await addOrganization(database);
  const before = await planOf(database);
  await fc.assert(
    fc.asyncProperty(unsigned, async ({ body, signature, name }) => {
      const response = await webhook.send(body, { secret: null, headers: { [name]: signature } });
      assertEquals(response.status, 401);
      await response.body?.cancel();
    }),
    { numRuns: MUTATIONS - SIGNED },
  );
  assertEquals(calls, 0);
  assertEquals(await planOf(database), before);
});

Deno.test(`${SIGNED} odd signed events break nothing and change no subscription`, async () => {
  await resetBilling(database);
  await addOrganization(database);
  await addOrganization(database, { id: "org_000000000002", plan: "free", trialEndsAt: null });
  assertEquals((await webhook.send(EVENT)).status, 200);
  const other = await planOf(database, "org_000000000002");
  const bodies = fc.oneof(
    otherBody,
    changes.map((list) => list.reduce<unknown>((event, { path, value }) => changed(event, path, value), EVENT)),
  );
  await fc.assert(
    fc.asyncProperty(bodies, fc.stringMatching(/^[\x20-\x7e]{0,200}$/), async (body, eventId) => {
      calls = 0;
      const response = await webhook.send(body, { headers: { "x-payment-event-id": eventId } });
      const answer = await response.json();
      assert([200, 400].includes(response.status), `${response.status} ${JSON.stringify(answer)}`);
      assertEquals(calls, response.status === 200 ? 1 : 0);
    }),
    { numRuns: SIGNED },
  );
  assertEquals(
    await database.query("select organization_id from billing.subscriptions where id = 'sub_00000000000001'"),
    [{ organization_id: ORGANIZATION }],
  );
  const [moved] = await database.query<{ count: number }>(
    "select count(*)::int as count from billing.subscriptions where organization_id = 'org_000000000002'",
  );
  // Another subscription may name the organization first; without its own plan, it has nothing to change.
  if (moved!.count === 0) assertEquals(await planOf(database, "org_000000000002"), other);
});
