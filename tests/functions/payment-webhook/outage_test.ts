/** The database goes down during operation, behind the real client and a real socket. */
import { assertEquals } from "@std/assert";
import { paymentEvent } from "../../../local/payment_event.ts";
import type { Timer } from "../../../shared/clock.ts";
import { createDatabase } from "../../../shared/db/client.ts";
import { addOrganization, ORGANIZATION, planOf, resetBilling } from "../../_support/billing.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { fakeTimer } from "../../_support/fake_timer.ts";
import { createWebhook } from "./harness.ts";

const database = await sharedDatabase();

/** The payment provider's timeout. */
const PROVIDER_WAITS_MS = 5_000;
const EVENT = await paymentEvent("subscription.charged", { organizationId: ORGANIZATION });

type Answer = (request: Request) => Promise<Response>;

const working: Answer = async (request) => {
  const name = new URL(request.url).pathname.split("/").at(-1)!;
  return Response.json(await database.asService(name, await request.json()));
};
const refusing = (status: number, code: string): Answer => () =>
  Promise.resolve(Response.json({ code, message: "no", details: null, hint: null }, { status }));

/** A faulty gateway's well-formed responses with status 200, which our functions never return. */
const lying = (answer: unknown): Answer => () => Promise.resolve(Response.json(answer));

/** The database API on a port that survives its restarts. */
function serve(port: number, answer: Answer) {
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, answer);
  return { port: server.addr.port, stop: () => server.shutdown() };
}

async function send(port: number, timer?: Timer) {
  const webhook = createWebhook({ database: createDatabase({ url: `http://127.0.0.1:${port}`, key: "key", timer }) });
  const response = await webhook.send(EVENT, { headers: { "x-payment-event-id": "evt_1" } });
  return { status: response.status, answer: await response.json() };
}

async function ledger(): Promise<number> {
  const [row] = await database.query<{ count: number }>("select count(*)::int as count from billing.payment_events");
  return row!.count;
}

const OUTAGES: Record<string, Answer | null> = {
  "stopped": null,
  "out of connections": refusing(504, "PGRST003"),
  "starting up": refusing(503, "PGRST001"),
  "past its statement timeout": refusing(500, "57014"),
  "in a deadlock": refusing(500, "40P01"),
  "behind its migrations, as PostgREST sees it": refusing(404, "PGRST202"),
  "behind its migrations, as PostgreSQL sees it": refusing(404, "42883"),
  "behind a gateway that returns nothing": lying(null),
  "behind a gateway that returns an empty object": lying({}),
  "behind a gateway that returns a list": lying([]),
  "behind a gateway that returns another outcome": lying({ outcome: "ok" }),
};

for (const [outage, answer] of Object.entries(OUTAGES)) {
  Deno.test(`webhook returns 503 while the database is ${outage}, and the retry applies`, async () => {
    await resetBilling(database);
    await addOrganization(database);
    const first = serve(0, answer ?? working);
    const { port } = first;
    if (!answer) await first.stop();
    const { status, answer: refusal } = await send(port);
    assertEquals([status, refusal.error.code, await ledger()], [503, "unavailable", 0]);
    if (answer) await first.stop();

    const again = serve(port, working);
    assertEquals(await send(port), { status: 200, answer: { status: "applied" } });
    assertEquals((await planOf(database)).plan, "pro");
    await again.stop();
  });
}

Deno.test("when the database hangs, the webhook returns 503 in time and the event is applied once", async () => {
  await resetBilling(database);
  await addOrganization(database);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: committed, resolve: commit } = Promise.withResolvers<void>();
  const slow = serve(0, async (request) => {
    const response = await working(request);
    commit();
    await released;
    return response;
  });
  const { timer, pass, pending } = fakeTimer();
  const sent = send(slow.port, timer);
  await committed;
  await pass(PROVIDER_WAITS_MS - 1);
  assertEquals(pending(), 0);
  assertEquals((await sent).status, 503);
  release();
  await slow.stop();

  const again = serve(slow.port, working);
  assertEquals(await send(slow.port), { status: 200, answer: { status: "duplicate" } });
  assertEquals((await planOf(database)).plan, "pro");
  await again.stop();
});
