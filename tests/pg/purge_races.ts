/** Concurrent purges and writing tools, on a PostgreSQL server with each caller in its own session. */
import { assert, assertEquals } from "@std/assert";
import { openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const AT = "2026-11-20T03:17:00Z";
const item = (n: number) => ({ items: [{ name: `Lunch ${n}`, amount: "10", date: "2026-11-20" }] });
const purge = async (most: number) => {
  const [row] = await database.query<{ done: { organizations: number; rows: number } }>(
    "select jobs.purge_organizations($1, $2) as done",
    [AT, most],
  );
  return row!.done;
};
const goes = (id: string) =>
  database.query("update identity.organizations set deletes_at = $2 where id = $1", [id, AT]);
const countOf = async (id: string) => {
  const [row] = await database.query<{ payments: number; organizations: number; changes: number }>(
    `select (select count(*)::int from app.payments where organization_id = $1) as payments,
       (select count(*)::int from app.change_sets where organization_id = $1) as changes,
       (select count(*)::int from identity.organizations where id = $1) as organizations`,
    [id],
  );
  return row!;
};

Deno.test("the purge skips an organization while a tool writes there and deletes it in the next run", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  await books.ok("log_expenses", item(1));
  await goes(books.organizationId);
  const claims = { sub: books.userId, role: "authenticated", organization_id: books.organizationId };
  await database.asRole("authenticated", claims, async (session) => {
    await session.query("select set_config('request.jwt.claim.sub', $1, true)", [books.userId]);
    await session.query("select app.run_tool('log_expenses', $1, $2)", [item(2), AT]);
    assertEquals((await purge(50_000)).organizations, 0);
  });
  assertEquals(await countOf(books.organizationId), { payments: 2, changes: 2, organizations: 1 });
  assertEquals((await purge(50_000)).organizations, 1);
  assertEquals(await countOf(books.organizationId), { payments: 0, changes: 0, organizations: 0 });
});

Deno.test("concurrent runs purge everything while tools write, and break no write", async () => {
  const [gone, stays] = [
    await openBooks(database, { day: "2026-11-20" }),
    await openBooks(database, { day: "2026-11-20" }),
  ];
  for (let n = 0; n < 20; n++) await gone.ok("log_expenses", item(n));
  await goes(gone.organizationId);
  let over = false;
  const runs = Array.from({ length: 4 }, async () => {
    while (!over) {
      await purge(5);
      over = (await countOf(gone.organizationId)).organizations === 0;
    }
  });
  const written = (async () => {
    for (let n = 0; n < 15; n++) await stays.ok("log_expenses", item(n));
  })();
  // A late call writes or is refused. No written row outlives the organization.
  const late = Array.from({ length: 5 }, (_, n) => gone.call("log_expenses", item(100 + n)).catch(() => undefined));
  await Promise.all([...runs, written, ...late]);
  assertEquals(await countOf(gone.organizationId), { payments: 0, changes: 0, organizations: 0 });
  const { payments, organizations } = await countOf(stays.organizationId);
  assertEquals([payments, organizations], [15, 1]);
  const events = await database.query(
    "select id from identity.audit_events where event = 'organization.deleted' and organization_id = $1",
    [
      gone.organizationId,
    ],
  );
  assert(events.length === 1);
});

Deno.test("the scheduled run purges as the role purger and restores the caller's role", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  await goes(books.organizationId);
  const [row] = await database.query<{ done: Record<string, number>; who: string; caller: string }>(
    "select jobs.purge($1) as done, current_user as who, session_user as caller",
    [AT],
  );
  assertEquals([row!.done.organizations, row!.done.people, row!.who], [1, 0, row!.caller]);
  assert("oauth.tokens" in row!.done);
});
