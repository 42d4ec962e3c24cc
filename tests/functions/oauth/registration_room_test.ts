/** Slots for unauthorized clients, and the clients that lose theirs to new ones. A flood can't block registration. */
import { assert, assertEquals } from "@std/assert";
import type { RateLimits } from "../../../shared/config.ts";
import { limitOf } from "../../../shared/http/quotas.ts";
import { MAX_METADATA_BYTES } from "../../../shared/oauth/limits.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  authorizationQuery,
  CALLBACK,
  connect,
  createHarness,
  createPerson,
  type Harness,
  over,
  START,
} from "./harness.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "room@example.com", ["team"]);

const HERE = "198.51.100.7";
const ELSEWHERE = "203.0.113.9";
const HOUR = 3600;
const room = limitOf({ rateLimits: "on" }, "ungranted_clients")!;

async function start(rateLimits: RateLimits = "on"): Promise<Harness> {
  await database.exec("truncate oauth.clients, oauth.rate_buckets, oauth.ungranted_counts cascade");
  return createHarness(over(database), { rateLimits });
}

const MANY = { register: 100_000 };

/** Registers from an address; returns the status, the id, and the seconds to wait. */
async function register(harness: Harness, from: string, metadata: Record<string, unknown> = {}) {
  const response = await harness.request("/api/oauth/register", {
    method: "POST",
    body: JSON.stringify({ redirect_uris: [CALLBACK], ...metadata }),
    headers: { "x-forwarded-for": from },
  });
  const { client_id: clientId } = await response.json();
  return { status: response.status, clientId, wait: Number(response.headers.get("retry-after")) };
}

/**
 * Registrations from `callers` addresses in turn, all at one instant, bypassing the function; returns counts by
 * outcome.
 */
async function flood(
  { named = "flood", callers, attempts, at = START, atMost = room.at_most }: {
    named?: string;
    callers: number;
    attempts: number;
    at?: Date;
    atMost?: number;
  },
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  // Registers a hundred per transaction. Single ones would take twice as long, and one large transaction would keep
  // every version of the updated rows.
  for (let from = 1; from <= attempts; from += 100) {
    const rows = await database.asRole(
      "service_role",
      {},
      (session) =>
        session.query<{ outcome: string; count: number }>(
          `select answer ->> 'outcome' as outcome, count(*)::int as count from (
           select public.register_client('client_' || gen_random_uuid(), 'Flood', array['https://flood.example/' || repeat('x', 2000)], $4, null,
             jsonb_build_object('caller', $7::text || n % $3, 'at_most', $5::int, 'seconds', $6::int)) as answer
           from generate_series($1::int, $2::int) as n
         ) as answers group by 1`,
          [from, Math.min(from + 99, attempts), callers, at.toISOString(), atMost, room.seconds, named],
        ),
    );
    for (const { outcome, count } of rows) counts[outcome] = (counts[outcome] ?? 0) + count;
  }
  return counts;
}

async function kept(where = "true"): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from oauth.clients where granted_at is null and ${where}`,
  );
  return row!.count;
}

Deno.test("after ten thousand registrations from twenty addresses, a new address can still register at once", async () => {
  const harness = await start();
  const honest = await register(harness, HERE);
  harness.later(HOUR / 2);
  assertEquals(await flood({ callers: 20, attempts: 10_000, at: harness.clock.now }), { registered: 10_000 });
  assertEquals(await flood({ callers: 20, attempts: 200, at: harness.clock.now }), { limited: 200 });

  for (let n = 0; n < 30; n++) assertEquals((await register(harness, ELSEWHERE)).status, 201);
  // A client from before the flood is still known, and can connect.
  const tokens = await connect(harness, { clientId: honest.clientId, person });
  assertEquals(typeof tokens.access_token, "string");

  // However long the flood lasts, it occupies only its own slots.
  harness.later(2 * HOUR);
  assertEquals(await flood({ callers: 20, attempts: 200, at: harness.clock.now }), { registered: 200 });
  assertEquals([await kept(), await kept("client_name = 'Flood'")], [10_030, 10_000]);
  const [size] = await database.query<{ bytes: number }>(
    "select pg_total_relation_size('oauth.clients')::int as bytes",
  );
  assert(size!.bytes < 11_100 * 4096, `${size!.bytes} bytes`);
});

Deno.test("clients never exceed the slots for any number of addresses, and a new address replaces the oldest", async () => {
  const atMost = 200;
  const harness = await start({ ...MANY, ungranted_clients: atMost });
  const oldest = await register(harness, HERE);
  const next = await register(harness, ELSEWHERE);
  await database.query("update oauth.clients set created_at = created_at - interval '1 second' where client_id = $1", [
    oldest.clientId,
  ]);
  // Two thousand callers make ten times as many registrations as there are slots.
  await flood({ callers: 198, attempts: 198, atMost });
  assertEquals([await kept(), await kept(`client_id = '${oldest.clientId}'`)], [atMost, 1]);
  assertEquals((await register(harness, "203.0.113.10")).status, 201);
  assertEquals(await kept(`client_id in ('${oldest.clientId}', '${next.clientId}')`), 1);
  const answers = await flood({ named: "others", callers: 2000, attempts: 2000, atMost });
  assertEquals([answers.registered, await kept()], [2000, atMost]);
  assertEquals((await register(harness, "203.0.113.11")).status, 201);
});

Deno.test("a caller over its share waits, or loses its own oldest client once that is an hour old", async () => {
  const harness = await start({ ...MANY, ungranted_clients: 60 });
  const honest = await register(harness, ELSEWHERE);
  harness.later(60);
  const [first, second] = [await register(harness, HERE), await register(harness, HERE)];
  assertEquals([first.status, second.status, (await register(harness, HERE)).status], [201, 201, 201]);
  const refused = await register(harness, HERE);
  assertEquals([refused.status, refused.wait], [429, HOUR]);
  harness.later(HOUR - 1);
  assertEquals(await register(harness, HERE), { status: 429, clientId: undefined, wait: 1 });
  harness.later(1);
  assertEquals((await register(harness, HERE)).status, 201);
  assertEquals(await kept(), 4);
  assertEquals(await kept(`client_id in ('${honest.clientId}', '${second.clientId}')`), 2);
  assertEquals(await kept(`client_id = '${first.clientId}'`), 0);
});

Deno.test("an IPv6 /48 has the share of one address", async () => {
  const harness = await start({ ...MANY, ungranted_clients: 60 });
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await register(harness, `2001:db8:1:${n}::1`)).status);
  assertEquals(statuses, [201, 201, 201, 429]);
  assertEquals((await register(harness, "2001:db8:2:1::1")).status, 201);
});

Deno.test("authorized clients use no share, so a hosted client can register all its users from one address", async () => {
  const harness = await start({ ...MANY, ungranted_clients: 40 });
  for (let n = 0; n < 10; n++) {
    const { clientId } = await register(harness, HERE);
    await connect(harness, { clientId, person });
  }
  // A client in use stores nothing about its caller.
  const [row] = await database.query(
    "select count(*)::int as count, count(registered_by)::int as known from oauth.clients",
  );
  assertEquals(row, { count: 10, known: 0 });
  await flood({ callers: 500, attempts: 500, atMost: 40 });
  const [used] = await database.query("select count(*)::int as count from oauth.clients where granted_at is not null");
  assertEquals(used, { count: 10 });
});

Deno.test("the largest registration is stored, and one byte more is refused with the limit", async () => {
  const harness = await start();
  const filled = (bytes: number) => {
    const uris = Array.from({ length: 4 }, (_, n) => `https://app.example/${n}`);
    const rest = bytes - new TextEncoder().encode(`Größe${uris.join("")}`).length;
    return { client_name: "Größe", redirect_uris: [...uris.slice(1), uris[0] + "x".repeat(rest)] };
  };
  assertEquals((await register(harness, HERE, filled(MAX_METADATA_BYTES))).status, 201);
  harness.calls.length = 0;
  const refused = await harness.register(filled(MAX_METADATA_BYTES + 1));
  assertEquals([refused.status, await refused.json()], [400, {
    error: "invalid_client_metadata",
    error_description: "client_name and redirect_uris must not exceed 2048 bytes together",
  }]);
  assertEquals(harness.calls, []);
});

Deno.test("the database itself limits a client to 2 kB and its id to 512 bytes", async () => {
  await start();
  const insert = (id: string, name: string, uris: string[]) =>
    database.query(
      "insert into oauth.clients (client_id, client_name, redirect_uris, created_at) values ($1, $2, $3, $4)",
      [
        id,
        name,
        uris,
        START,
      ],
    ).then(() => "kept", (thrown) => /clients_\w+/.exec(String(thrown))?.[0]);
  assertEquals(await insert("client_1", "é", ["x".repeat(1023), "y".repeat(1023)]), "kept");
  assertEquals(await insert("client_2", "é", ["x".repeat(1023), "y".repeat(1024)]), "clients_metadata_size");
  assertEquals(await insert("https://".padEnd(512, "x"), "x", ["y"]), "kept");
  assertEquals(await insert("https://".padEnd(513, "x"), "x", ["y"]), "clients_client_id_format");
});

Deno.test("clients that publish a document share the same slots, and their callers the same shares", async () => {
  const harness = await start({ ungranted_clients: 40 });
  harness.publish.answer = (url) =>
    Promise.resolve({
      ok: true,
      status: 200,
      headers: new Headers({ "content-type": "application/json" }),
      body: new TextEncoder().encode(
        JSON.stringify({ client_id: url, client_name: "App", redirect_uris: [CALLBACK] }),
      ),
    });
  const open = async (clientId: string, from: string) => {
    const response = await harness.get(authorizationQuery(clientId), person, { "x-forwarded-for": from });
    await response.body?.cancel();
    return response.status;
  };
  const url = (n: number) => `https://app-${n}.example/client.json`;
  assertEquals([await open(url(1), HERE), await open(url(2), HERE)], [200, 200]);
  assertEquals([await open(url(3), HERE), (await register(harness, HERE)).status], [429, 429]);
  assertEquals([await open(url(1), HERE), await open(url(3), ELSEWHERE)], [200, 200]);
  // A widely used client counts against no caller.
  assertEquals(await open("https://claude.ai/oauth/mcp-oauth-client-metadata", HERE), 200);
  await flood({ callers: 100, attempts: 100, atMost: 40 });
  assertEquals(await kept(), 40);
  assertEquals(await open("https://vscode.dev/oauth/client-metadata.json", HERE), 200);
  assertEquals(await kept(), 40);
});

Deno.test("clients without a caller address take slots, but have no share to exceed", async () => {
  const harness = await start({ ungranted_clients: 5 });
  for (let n = 0; n < 10; n++) {
    const response = await harness.register({ redirect_uris: [CALLBACK] });
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
  assertEquals(await kept(), 5);
});
