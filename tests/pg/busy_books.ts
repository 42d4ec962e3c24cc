/** Concurrent writes to the same books: which call waits, how long it waits, and the state that it then sees. */
import { assert, assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { waitFor } from "../_support/wait_for.ts";
import { AT, createHousehold, newHash, RESOURCE, signIn } from "./household.ts";

const database = await sharedDatabase();

const LUNCH = { items: [{ name: "Lunch", amount: "14.50" }], idempotency_key: "lunch-0001" };

/** Runs `meanwhile` while another session is writing, until it calls `finish`. */
async function whileWriting(
  books: Pick<Books, "userId" | "organizationId">,
  meanwhile: (finish: () => void) => Promise<void>,
  change?: string,
): Promise<void> {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: locked, resolve: holds } = Promise.withResolvers<void>();
  const claims = { sub: books.userId, organization_id: books.organizationId };
  const writing = database.asRole("authenticated", claims, async (session) => {
    await session.query("select app.lock_books($1)", [books.organizationId]);
    if (change) await session.query("select app.run_tool('update_settings', $1::text::jsonb, $2)", [change, AT]);
    holds();
    await finished;
  });
  await locked;
  await meanwhile(finish).finally(finish);
  await writing;
}

/** Resolves when this many sessions wait for the lock. */
const waiting = (count: number) =>
  waitFor(async () => {
    const [row] = await database.query<{ count: number }>(
      `select count(*)::int as count from pg_locks as l join pg_database as d on d.oid = l.database
       where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
    );
    return row!.count < count ? undefined : row;
  }, { deadlineMs: 5_000, everyMs: 10 });

Deno.test("a write waits two seconds for another one and then returns busy; a read never waits", async () => {
  const books = await openBooks(database);
  await whileWriting(books, async () => {
    const since = performance.now();
    assertEquals((await books.call("get_context")).ok, true);
    const error = await books.fails("busy", "log_expenses", LUNCH);
    assertEquals(error.retryable, true);
    const ms = performance.now() - since;
    assert(ms > 1900 && ms < 6000, `answered after ${ms} ms`);
  });
  assertEquals((await books.call("log_expenses", LUNCH)).replayed, undefined);
  assertEquals((await books.call("list_expenses")).total_count, 1);
});

Deno.test("heavy writes in one organization do not block others", async () => {
  const [busy, other] = [await openBooks(database), await openBooks(database)];
  /** As many as the pool has sessions, except the writer's. */
  const writeInAll = (books: Books) => Array.from({ length: 29 }, () => books.call("log_expenses", LUNCH));
  // A session plans its first call, which takes a part of the two seconds that it may wait.
  await Promise.all(writeInAll(other));
  await whileWriting(busy, async () => {
    const answers = writeInAll(busy);
    await waiting(29);
    const since = performance.now();
    await other.ok("get_context");
    assert(performance.now() - since < 5000);
    for (const { error } of await Promise.all(answers)) assertEquals(error.code, "busy");
  });
});

Deno.test("a write that waited sees the other write's result", async () => {
  const books = await openBooks(database);
  await whileWriting(books, async (finish) => {
    const logged = books.ok("log_expenses", { items: [{ name: "Tea", amount: "14" }] });
    await waiting(1);
    finish();
    assertEquals((await logged).results[0].currency, "JPY");
  }, JSON.stringify({ base_currency: "JPY" }));
});

Deno.test("a member removed while waiting is refused", async () => {
  const household = await createHousehold(database);
  const tokenHash = await signIn(database, household, newHash());
  await whileWriting(household, async (finish) => {
    const call = { token_hash: tokenHash, resource: RESOURCE, tool: "log_expenses", arguments: LUNCH, at: AT };
    const answer = database.asService<Json>("call_tool", call);
    await waiting(1);
    await database.query("delete from identity.memberships where user_id = $1", [household.userId]);
    finish();
    assertEquals(await answer, { outcome: "invalid_token" });
  });
});

Deno.test("an app narrowed while its write waits is refused, and narrowing waits for a running write", async () => {
  const household = await createHousehold(database);
  const tokenHash = await signIn(database, household, newHash());
  const [grant] = await database.query<{ id: string }>(
    "select id from oauth.grants where user_id = $1",
    [household.userId],
  );
  const call = { token_hash: tokenHash, resource: RESOURCE, tool: "log_expenses", arguments: LUNCH, at: AT };
  const narrow = { user_id: household.userId, grant_id: grant!.id, access: "read", at: AT };
  await whileWriting(household, async (finish) => {
    const narrowed = database.asService<Json>("change_grant_access", narrow);
    await waiting(1);
    const answer = database.asService<Json>("call_tool", call);
    await waiting(2);
    const [before] = await database.query<{ access: string }>("select access from oauth.grants where id = $1", [
      grant!.id,
    ]);
    assertEquals(before!.access, "write", "the running write goes first");
    finish();
    assertEquals(await narrowed, { outcome: "changed" });
    assertEquals((await answer).outcome, "insufficient_scope");
  });
  assertEquals(
    await database.query("select from app.expenses where organization_id = $1", [household.organizationId]),
    [],
  );
});
