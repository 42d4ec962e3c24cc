/** Concurrent imports: of one link, of one import, of one file by two people, and during other writes. */
import { assert, assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { importOf } from "../_support/import_args.ts";

const database = await sharedDatabase();

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    line: i + 2,
    name: `Shop ${i}`,
    amount: `${1 + i % 90}.50`,
    date: `2026-10-${10 + i % 10}`,
  }));
const preview = async (books: Books, rows = rowsOf(20)): Promise<Json> =>
  (await books.ok("import_expenses", { ...importOf(rows), account: "Visa 1234" })).preview;
const commit = (books: Books, { commit_with }: Json) => books.call("import_expenses", commit_with);
const codes = (answers: Json[]) => answers.map(({ ok, error }) => ok ? "ok" : error.code).toSorted();
const count = async (books: Books) => (await books.call("list_expenses")).total_count;

Deno.test("two concurrent files for one link leave one file", async () => {
  const books = await openBooks(database);
  const { upload: { import_id } } = await books.ok("import_expenses", { step: "start" });
  const keep = { step: "keep", import_id, file: "a", row_count: 1, read: { mapping: {}, questions: [], left_out: [] } };
  const answers = await Promise.all(Array.from({ length: 4 }, () => books.facts("import_expenses", keep)));
  assertEquals(answers.map(({ ok, error }) => ok ? "ok" : error.code).toSorted(), [
    ...Array(3).fill("invalid_argument.upload_used"),
    "ok",
  ]);
});

Deno.test("concurrent commits of one import write it once", async () => {
  const books = await openBooks(database);
  const shown = await preview(books);
  const answers = await Promise.all(Array.from({ length: 5 }, () => commit(books, shown)));
  assertEquals(codes(answers), Array(5).fill("ok"));
  assertEquals(answers.filter(({ replayed }) => !replayed).length, 1);
  assertEquals(new Set(answers.map(({ change_id }) => change_id)).size, 1);
  assertEquals(await count(books), 20);
});

Deno.test("two people who commit one file concurrently write it once", async () => {
  const books = await openBooks(database);
  const member = await books.join();
  const shown = [await preview(books), await preview(member)];
  const answers = await Promise.all([commit(books, shown[0]), commit(member, shown[1])]);
  assertEquals(codes(answers), ["expectation_mismatch", "ok"]);
  assertEquals(await count(books), 20);
  const [lines] = await database.query<{ count: number }>(
    "select count(*)::int as count from app.statement_lines where organization_id = $1",
    [books.organizationId],
  );
  assertEquals(lines!.count, 20);
});

Deno.test("an expense logged during publication is not duplicated", async () => {
  const books = await openBooks(database);
  const member = await books.join();
  const shown = await preview(books);
  const claims = { sub: member.userId, organization_id: member.organizationId };
  const { promise: logged, resolve: isLogged } = Promise.withResolvers<void>();
  const { promise: published, resolve: publish } = Promise.withResolvers<void>();
  // Written before the import is published, but visible to it only while it waits for the books lock.
  const writing = database.asRole("authenticated", claims, async (session) => {
    await session.query("select app.run_tool('log_expenses', $1::text::jsonb, '2026-11-20T12:00:00Z')", [
      JSON.stringify({ items: [{ name: "Shop 3", amount: "4.50", date: "2026-10-13" }] }),
    ]);
    isLogged();
    await published;
  });
  await logged;
  const committing = commit(books, shown);
  await new Promise((done) => setTimeout(done, 700));
  publish();
  await writing;
  assertEquals((await committing).error?.code, "expectation_mismatch");
  assertEquals(await count(books), 1);
});

Deno.test("other organizations' writes continue while many rows are published or undone", async () => {
  const books = await openBooks(database);
  const member = await books.join();
  const shown = await preview(books, rowsOf(2000));
  for (const work of [() => commit(books, shown), () => books.call("undo_change")]) {
    let isOver = false;
    const long = work().finally(() => isOver = true);
    const answers: Json[] = [];
    while (!isOver) {
      answers.push(await member.call("log_expenses", { items: [{ name: `Note ${answers.length}`, amount: "5.01" }] }));
    }
    assertEquals((await long).ok, true);
    assertEquals(codes(answers), Array(answers.length).fill("ok"));
    // All calls except the last returned before the import was done.
    assert(answers.length > 3, `${answers.length} writes`);
    await member.call("delete_records", { ids: answers.map(({ data }) => data.results[0].id) });
  }
});

Deno.test("an older open transaction makes no row look newer than the preview", async () => {
  const books = await openBooks(database);
  const { promise: begun, resolve: isBegun } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const running = database.transaction(async (session) => {
    await session.query("select pg_current_xact_id()");
    isBegun();
    await over;
  });
  await begun;
  await books.ok("log_expenses", { items: [{ name: "Groceries", amount: "4.50", date: "2026-10-12" }] });
  const shown = await preview(books, rowsOf(20));
  const answers = Object.fromEntries(shown.questions.map(({ id }: Json) => [id, "new"]));
  assert(shown.questions.length > 0);
  const again = (await books.ok("import_expenses", { import_id: shown.import_id, answers })).preview;
  assertEquals(codes([await commit(books, again)]), ["ok"]);
  end();
  await running;
  assertEquals(await count(books), 21);
});
