/** Events on real PostgreSQL: concurrent jobs, and a dead receiver beside others. */
import { assertEquals } from "@std/assert";
import { type Json, openBooks } from "../_support/books.ts";
import { connectApp } from "../_support/connected_app.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const EVENTS = 1000;
const at = (seconds: number) => new Date(Date.parse("2026-11-20T13:00:00Z") + seconds * 1000).toISOString();

/** Books with a bill, its events and the same number of subscriptions. */
async function outbox(events: number, subscriptions: number) {
  await database.reset();
  const books = await openBooks(database);
  const { bill } = await books.ok("add_bill", { name: "Water", amount: "10", first_due: "2026-11-22" });
  const { grantId } = await connectApp(database, books, { clock: () => new Date(at(0)) });
  await database.query(
    `insert into app.event_subscriptions (id, grant_id, name, url, secret, place_at, leased_until, created_at, expires_at)
     select 'sub_' || lpad(to_hex(n), 32, '0'), $1, 'bill.due', 'https://hooks.example/' || n, '{}', $2, $2, $2, '2026-12-01'
     from generate_series(1, $3) as n`,
    [grantId, at(-7200), subscriptions],
  );
  await database.query(
    `insert into app.events (organization_id, user_id, name, about, created_at)
     select $1, $2, 'bill.due', array[$3], $4::timestamptz + n * interval '1 second' from generate_series(1, $5) as n`,
    [books.organizationId, books.userId, bill.id, at(-3600), events],
  );
}

const claim = (now: string) => database.asService<Json | null>("claim_event", { at: now });

/** The deliveries of one of a job's senders. */
async function sendAll(isDead: (url: string) => boolean, now = at(0)): Promise<[url: string, id: string][]> {
  const sent: [string, string][] = [];
  for (;;) {
    const claimed = await claim(now);
    if (!claimed) return sent;
    const { subscription_id, url, event } = claimed;
    sent.push([url, event.id]);
    await database.asService("settle_event", {
      subscription_id,
      place: { at: event.at, id: event.id },
      is_done: !isDead(url),
      at: now,
    });
  }
}

Deno.test("one dead receiver delays none of 1,000 events to the others", async () => {
  await outbox(EVENTS, 3);
  const sent = (await Promise.all(Array.from({ length: 4 }, () => sendAll((url) => url.endsWith("/2"))))).flat();
  const count = (path: string) => sent.filter(([url]) => url.endsWith(path)).length;
  assertEquals([count("/1"), count("/2"), count("/3")], [EVENTS, 1, EVENTS]);
});

Deno.test("parallel workers send each event once, to each receiver in order", async () => {
  await outbox(100, 8);
  const sent = (await Promise.all(Array.from({ length: 6 }, () => sendAll(() => false)))).flat();
  assertEquals(sent.length, 800);
  assertEquals(new Set(sent.map(String)).size, 800);
});

Deno.test("parallel workers claim an event once within its lease, and again afterwards with the same id", async () => {
  await outbox(3, 4);
  const claimAtOnce = async (now: string) =>
    (await Promise.all(Array.from({ length: 12 }, () => claim(now)))).filter((one) => one !== null);
  const idsOf = (claimed: Json[]) => claimed.map(({ url, event }) => `${url} ${event.id}`).toSorted();
  const killed = await claimAtOnce(at(0));
  assertEquals(killed.length, 4);
  assertEquals(await claimAtOnce(at(59)), []);
  assertEquals(idsOf(await claimAtOnce(at(60))), idsOf(killed));
});
