/** Concurrent imports of a transfer's halves: twice, with a lost connection, and by people of another organization. */
import { assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { importOfFile } from "../_support/import_args.ts";

const database = await sharedDatabase();

const GIRO = "2026-10-04,Dublin 8829,-600.00\n2026-10-07,Bread,-3.00";
const NEOBANK = "2026-10-05,Top up by *4411,600.00\n2026-10-06,Coffee,-4.00";
const preview = async (books: Books, account: string, rows: string): Promise<Json> => {
  const more = { account, mapping: { negative_is_expense: true } };
  return (await books.ok("import_expenses", importOfFile(`Date,Name,Amount\n${rows}\n`, more))).preview;
};
const commit = (books: Books, { commit_with }: Json): Promise<Json> => books.call("import_expenses", commit_with);
const again = async (books: Books, { import_id }: Json, answers: Json = {}): Promise<Json> =>
  (await books.ok("import_expenses", { import_id, answers })).preview;
const codes = (answers: Json[]) => answers.map(({ ok, error }) => ok ? "ok" : error.code).toSorted();
const totals = async (books: Books) => (await books.call("list_expenses")).totals_by_currency;
/** Statement lines that are the other half of another line. */
const halves = async ({ organizationId }: Books) => {
  const [row] = await database.query<{ count: number }>(
    "select count(other_half_id)::int as count from app.statement_lines where organization_id = $1",
    [organizationId],
  );
  return row!.count;
};

/** Imports the spending half, and previews the other one, which removes it. */
async function removing(books: Books): Promise<Json> {
  await commit(books, await preview(books, "Giro", GIRO));
  const shown = await preview(books, "Neobank", NEOBANK);
  return await again(books, shown, { row_2: "same" });
}

Deno.test("of two halves committed concurrently, the later commit sees the earlier one", async () => {
  for (let round = 0; round < 6; round++) {
    const books = await openBooks(database);
    const member = await books.join();
    const shown = [await preview(books, "Giro", GIRO), await preview(member, "Neobank", NEOBANK)];
    const answers = await Promise.all([commit(books, shown[0]), commit(member, shown[1])]);
    const isGiroFirst = answers[0].ok;
    assertEquals(codes(answers), [isGiroFirst ? "needs_answer" : "expectation_mismatch", "ok"]);
    assertEquals(await totals(books), { EUR: isGiroFirst ? "603.00" : "4.00" });
    const next = isGiroFirst ? await again(member, shown[1], { row_2: "same" }) : await again(books, shown[0]);
    assertEquals((await commit(isGiroFirst ? member : books, next)).error, undefined);
    assertEquals([await totals(books), await halves(books)], [{ EUR: "7.00" }, 1]);
  }
});

Deno.test("of two halves that look like spending and income, the later concurrent commit asks", async () => {
  for (let round = 0; round < 4; round++) {
    const books = await openBooks(database);
    const member = await books.join();
    const [paid, came] = ["2026-10-04,Kim Schmidt,-600.00", "2026-10-05,Kim Schmidt,600.00"];
    const shown = [await preview(books, "Giro", paid), await preview(member, "Joint", came)];
    const answers = await Promise.all([commit(books, shown[0]), commit(member, shown[1])]);
    assertEquals(codes(answers), ["needs_answer", "ok"]);
    const [later, open, answer] = answers[0].ok ? [member, shown[1], "same"] : [books, shown[0], "transfer"];
    assertEquals((await commit(later, await again(later, open, { row_2: answer }))).error, undefined);
    const { totals_by_currency: income } = await books.call("list_expenses", { kind: "income" });
    assertEquals([await totals(books) ?? {}, income ?? {}, await halves(books)], [{}, {}, 1]);
  }
});

Deno.test("two files that remove one half remove it once, and an undo restores it once", async () => {
  const books = await openBooks(database);
  const member = await books.join();
  const shown = await removing(books);
  const other = await again(member, await preview(member, "Depot", NEOBANK.replace("4.00", "5.00")), { row_2: "same" });
  const answers = await Promise.all([commit(books, shown), commit(member, other), commit(books, shown)]);
  const written = answers.filter(({ ok }) => ok);
  assertEquals(new Set(written.map(({ change_id }) => change_id)).size, 1);
  assertEquals(await totals(books), { EUR: answers[1].ok ? "8.00" : "7.00" });
  assertEquals(await halves(books), 1);
  await Promise.all([1, 2].map(() => books.call("undo_change", { change_id: written[0].change_id })));
  assertEquals([await totals(books), await halves(books)], [{ EUR: "603.00" }, 0]);
});

Deno.test("a connection lost while a half is removed changes nothing", async () => {
  const books = await openBooks(database);
  const shown = await removing(books);
  const claims = { sub: books.userId, organization_id: books.organizationId };
  const broken = database.asRole("authenticated", claims, async (session) => {
    const [row] = await session.query<{ result: Json }>(
      "select app.run_tool('import_expenses', $1::text::jsonb, '2026-11-20T12:00:00Z') as result",
      [JSON.stringify(shown.commit_with)],
    );
    assertEquals(row!.result.ok, true);
    throw new Error("broken");
  });
  assertEquals(await broken.catch((thrown) => thrown.message), "broken");
  assertEquals([await totals(books), await halves(books)], [{ EUR: "603.00" }, 0]);
  assertEquals((await commit(books, shown)).error, undefined);
  assertEquals([await totals(books), await halves(books)], [{ EUR: "7.00" }, 1]);
});

Deno.test("undoing one half during the other's commit leaves no unreported line", async () => {
  // The undo starts at another moment of the commit in each round.
  for (let round = 0; round < 12; round++) {
    const books = await openBooks(database);
    const member = await books.join();
    const first = await commit(books, await preview(books, "Neobank", NEOBANK));
    const shown = await preview(member, "Giro", GIRO);
    const undoAfter = async (ms: number) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return await books.call("undo_change", { change_id: first.change_id });
    };
    const [undone, committed] = await Promise.all([
      undoAfter(8 * round),
      commit(member, shown),
    ]);
    assertEquals(undone.error, undefined);
    // In either order, the books contain the spending, or the answer names the missing line.
    if (!committed.ok) {
      assertEquals(committed.error.code, "expectation_mismatch");
      assertEquals((await commit(member, await again(member, shown))).error, undefined);
      assertEquals(await totals(books), { EUR: "603.00" });
    } else {
      const { bank_only } = await books.ok("reconcile", { account: "Giro" });
      assertEquals(bank_only.map(({ amount }: Json) => amount), ["600.00"]);
    }
    assertEquals(await halves(books), 0);
  }
});

Deno.test("another organization neither finds a half nor removes it", async () => {
  const books = await openBooks(database);
  const stranger = await openBooks(database);
  const shown = await removing(books);
  const theirs = await preview(stranger, "Neobank", NEOBANK);
  assertEquals([theirs.questions, theirs.removes], [[], undefined]);
  const answers = await Promise.all([
    stranger.call("import_expenses", shown.commit_with),
    commit(books, shown),
    commit(stranger, theirs),
  ]);
  assertEquals(answers.map(({ ok, error }) => ok ? "ok" : error.code), ["not_found", "ok", "ok"]);
  assertEquals([await totals(books), await totals(stranger)], [{ EUR: "7.00" }, { EUR: "4.00" }]);
});
