import { assertEquals, assertRejects } from "@std/assert";
import { openDatabase } from "./database.ts";

const BOOKS = `create table public.book (name text primary key); insert into public.book values ('one')`;
const names = async (database: Awaited<ReturnType<typeof openDatabase>>) =>
  (await database.query<{ name: string }>("select name from public.book order by 1")).map(({ name }) => name);
const ignore = Deno.env.has("TEST_DATABASE_URL");

Deno.test("databases in one PGlite are isolated in any order", { ignore }, async () => {
  const [first, second] = [await openDatabase(), await openDatabase()];
  await first.exec(BOOKS);
  await assertRejects(() => names(second), Error, "does not exist");
  await second.exec(BOOKS.replace("one", "other"));
  for (let i = 0; i < 2; i++) {
    await first.query("insert into public.book values ($1)", [`one ${i}`]);
    await second.exec(`insert into public.book select 'row ' || n || '-${i}' from generate_series(1, 2000) as n`);
    await first.exec("vacuum");
    await first.exec("checkpoint");
  }
  assertEquals(await names(first), ["one", "one 0", "one 1"]);
  assertEquals((await names(second)).length, 4_001);
  await first.close();
  const third = await openDatabase();
  await assertRejects(() => names(third), Error, "does not exist");
  assertEquals((await names(second)).length, 4_001);
  await second.close();
  await third.close();
});

Deno.test("a library loaded by one database is absent in the next one", { ignore }, async () => {
  const [first, second] = [await openDatabase(), await openDatabase()];
  await first.exec(`${BOOKS}; load 'dict_snowball'`);
  await assertRejects(() => names(second), Error, "does not exist");
  const stem = "select to_tsvector('english', 'paid bills')::text as words";
  for (const database of [first, second, first]) {
    assertEquals(await database.query(stem), [{ words: "'bill':2 'paid':1" }]);
  }
  assertEquals(await names(first), ["one"]);
  await first.close();
  await second.close();
});

Deno.test("a waiting database fails with a hint when another one loads a library", { ignore }, async () => {
  const [first, second] = [await openDatabase(), await openDatabase()];
  await second.exec(BOOKS);
  await first.exec("load 'dict_snowball'");
  await assertRejects(() => names(second), Error, "add it to LIBRARIES");
  await first.close();
  await second.close();
});

Deno.test("a database keeps its content while another one grows", { ignore }, async () => {
  const [first, second] = [await openDatabase(), await openDatabase()];
  await first.exec(BOOKS);
  await second.exec(
    "create table public.large as select repeat('x', 40000000) as text; select length(text || 'y') from public.large",
  );
  const third = await openDatabase();
  await assertRejects(() => names(third), Error, "does not exist");
  assertEquals(await names(first), ["one"]);
  assertEquals(await second.query("select length(text) as length from public.large"), [{ length: 40_000_000 }]);
  for (const database of [first, second, third]) await database.close();
});
