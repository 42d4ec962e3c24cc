import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { paymentEvent } from "../../../local/payment_event.ts";
import { signBody } from "../../../shared/billing/signature.ts";
import type { Database } from "../../../shared/db/client.ts";
import { AppError } from "../../../shared/errors.ts";
import { createWebhook, PREVIOUS_SECRET, SECRET } from "./harness.ts";

const EVENT = await paymentEvent("subscription.charged");

/** The event's signature under a secret. */
const hexOf = (secret: string) => signBody(new TextEncoder().encode(JSON.stringify(EVENT)), secret);

/** A database that records its calls and returns the same result for all. */
function fakeDatabase(answer: () => unknown = () => ({ outcome: "applied" })) {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const database: Database = {
    call: <Result>(name: string, args: Record<string, unknown>) => {
      calls.push({ name, args });
      return Promise.resolve().then(() => answer() as Result);
    },
  };
  return { database, calls };
}

Deno.test("webhook passes a signed event to the database in one call and returns its outcome", async () => {
  for (const outcome of ["applied", "duplicate", "stale", "ignored", "parked"]) {
    const { database, calls } = fakeDatabase(() => ({ outcome }));
    const response = await createWebhook({ database }).send(EVENT, { headers: { "x-payment-event-id": "evt_1" } });
    assertEquals(response.status, 200);
    assertEquals(await response.json(), { status: outcome });
    assert(response.headers.get("x-request-id"));
    assertEquals(calls, [{
      name: "apply_payment_event",
      args: {
        event: {
          type: "subscription.charged",
          status: "active",
          rank: 2,
          subscription_id: "sub_00000000000001",
          provider_plan_id: "plan_00000000000001",
          organization_id: "org_000000000001",
          occurred_at: new Date("2026-01-01T00:00:00Z"),
          period_ends_at: new Date("2026-02-01T00:00:00Z"),
          paid_count: 2,
          auth_attempts: 0,
        },
        body_hash: calls[0]!.args.body_hash,
        event_id: "evt_1",
        at: new Date("2026-11-20T12:00:00Z"),
      },
    }]);
    assertMatch(calls[0]!.args.body_hash as string, /^[0-9a-f]{64}$/);
  }
});

Deno.test("webhook accepts the provider's own header names, and the event id may be absent or odd", async () => {
  const ids: [Record<string, string>, string | null][] = [
    [{ "x-razorpay-event-id": "evt_2" }, "evt_2"],
    [{}, null],
    [{ "x-payment-event-id": "two words" }, null],
    [{ "x-payment-event-id": "e".repeat(129) }, null],
  ];
  for (const [headers, expected] of ids) {
    const { database, calls } = fakeDatabase();
    assertEquals((await createWebhook({ database }).send(EVENT, { headers })).status, 200);
    assertEquals(calls[0]!.args.event_id, expected);
  }

  const { database, calls } = fakeDatabase();
  const webhook = createWebhook({ database });
  const signed = await webhook.send(EVENT, { secret: null, headers: { "x-razorpay-signature": await hexOf(SECRET) } });
  assertEquals(signed.status, 200);
  // The alias rejects a wrong signature too.
  const both = { "x-payment-signature": "0".repeat(64), "x-razorpay-signature": await hexOf(SECRET) };
  assertEquals((await webhook.send(EVENT, { secret: null, headers: both })).status, 401);
  assertEquals(calls.length, 1);
});

Deno.test("webhook accepts the previous secret during a rotation", async () => {
  const { database, calls } = fakeDatabase();
  assertEquals((await createWebhook({ database }).send(EVENT, { secret: PREVIOUS_SECRET })).status, 200);
  assertEquals(
    (await createWebhook({ database, secrets: SECRET }).send(EVENT, { secret: PREVIOUS_SECRET })).status,
    401,
  );
  assertEquals(calls.length, 1);
});

Deno.test("webhook refuses a wrong signature without parsing the body or calling the database", async () => {
  const { database, calls } = fakeDatabase();
  const webhook = createWebhook({ database });
  const good = await hexOf(SECRET);
  const headers: Record<string, string>[] = [
    {},
    { "x-payment-signature": "" },
    { "x-payment-signature": good.toUpperCase() },
    { "x-payment-signature": good.slice(1) },
    { "x-payment-signature": `${good}, ${good}` },
    { "x-payment-signature": await hexOf("another") },
    { "x-signature": good },
  ];
  for (const header of headers) {
    const response = await webhook.send(EVENT, { secret: null, headers: header });
    assertEquals(response.status, 401);
    assertEquals((await response.json()).error.code, "unauthorized");
  }
  // An unsigned caller does not even learn whether the body is valid JSON.
  assertEquals((await webhook.send("{", { secret: "another" })).status, 401);
  assertEquals(calls.length, 0);
});

Deno.test("webhook returns 400 for a signed body that is not an event", async () => {
  const { database, calls } = fakeDatabase();
  for (const body of ["", "{", "[]", "null", '{"event":1}', "[".repeat(200_000)]) {
    const response = await createWebhook({ database }).send(body);
    assertEquals(response.status, 400, body.slice(0, 20));
    const { error } = await response.json();
    assertEquals([error.code, error.request_id], ["invalid_request", response.headers.get("x-request-id")]);
  }
  assertEquals(calls.length, 0);
});

Deno.test("webhook stops reading at 256 KiB, whatever the declared length", async () => {
  const { database, calls } = fakeDatabase();
  const webhook = createWebhook({ database });
  const limit = 256 * 1024;
  const padded = (length: number) => JSON.stringify(EVENT).padEnd(length, " ");
  assertEquals((await webhook.send(padded(limit))).status, 200);
  assertEquals((await webhook.send(padded(limit + 1))).status, 413);

  let produced = 0;
  const endless = new ReadableStream({
    pull(controller) {
      produced += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const request = new Request("http://127.0.0.1/api/payment/webhook", { method: "POST", body: endless });
  assertEquals((await webhook.fetch(request)).status, 413);
  assert(produced < 2 * limit, `${produced} bytes were read`);
  assertEquals(calls.length, 1);
});

Deno.test("webhook without a secret returns 503, logs it and accepts nothing", async () => {
  const { database, calls } = fakeDatabase();
  const webhook = createWebhook({ database, secrets: "" });
  assertEquals((await webhook.send(EVENT)).status, 503);
  assertEquals((await webhook.send(EVENT, { secret: null })).status, 503);
  assertEquals(calls.length, 0);
  assertStringIncludes(webhook.lines.join("\n"), "PAYMENT_WEBHOOK_SECRET is not set");
});

Deno.test("webhook returns 503 with Retry-After when the database cannot accept the event", async () => {
  const { database } = fakeDatabase(() => {
    throw new AppError("unavailable", "no database", { headers: { "retry-after": "5" } });
  });
  const response = await createWebhook({ database }).send(EVENT);
  assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
});

Deno.test("webhook accepts only POST, at each of its paths", async () => {
  const { database } = fakeDatabase();
  const webhook = createWebhook({ database });
  for (const path of ["/api/payment/webhook", "/payment-webhook", "/functions/v1/payment-webhook"]) {
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS"]) {
      const response = await webhook.fetch(new Request(`http://127.0.0.1${path}`, { method }));
      assertEquals([response.status, response.headers.get("allow")], [405, "POST"], `${method} ${path}`);
    }
    const post = new Request(`http://127.0.0.1${path}`, { method: "POST", body: "{}" });
    assertEquals((await webhook.fetch(post)).status, 401);
  }
});

Deno.test("webhook logs an event's outcome, as an error when a person must act, but never the body", async () => {
  const answers = [
    { outcome: "applied", organization_id: "org_1" },
    { outcome: "applied", organization_id: "org_1", no_effect: "never_active" },
    { outcome: "parked", reason: "unknown_plan" },
    { outcome: "parked", reason: "dated_ahead" },
  ];
  const { database } = fakeDatabase(() => answers.shift());
  const webhook = createWebhook({ database });
  while (answers.length > 0) {
    assertEquals(Object.keys(await (await webhook.send(EVENT)).json()), ["status"]);
  }
  const events = webhook.lines.map((line) => JSON.parse(line));
  assertEquals(
    events.map(({ event, level, outcome, no_effect, reason }) => [event, level, outcome, no_effect ?? reason]),
    [
      ["request", "info", "applied", undefined],
      ["request", "info", "applied", "never_active"],
      ["payment_event", "error", "parked", "unknown_plan"],
      ["request", "info", "parked", "unknown_plan"],
      ["payment_event", "error", "parked", "dated_ahead"],
      ["request", "info", "parked", "dated_ahead"],
    ],
  );
  for (const secret of [SECRET, "customer@example.com", "sub_0000", await hexOf(SECRET)]) {
    assertFalse(webhook.lines.join("\n").includes(secret), secret);
  }
});
