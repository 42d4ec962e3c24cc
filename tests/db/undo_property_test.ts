/** Random sequences of writes and undos end with the balances of an in-memory model; a refused undo changes nothing. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { type Books, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { type Balances, BooksModel } from "./books_model.ts";
import { type Run, STEPS, WEIGHTED } from "./random_writes.ts";

/** Full-length sequences on a server, a sample in memory. */
const { sequences, writes } = Deno.env.get("TEST_DATABASE_URL")
  ? { sequences: 5, writes: 200 }
  : { sequences: 1, writes: 80 };

async function balances(database: TestDatabase, { organizationId }: Books): Promise<Balances> {
  const rows = await database.query<{ currency: string; minor: number }>(
    `select currency, sum(case direction when 'out' then amount_minor else -amount_minor end)::float8 as minor
     from app.payments where organization_id = $1 and deleted_at is null group by 1 having sum(case direction when 'out' then amount_minor else -amount_minor end) <> 0`,
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ currency, minor }) => [currency, minor]));
}

Deno.test("the generator covers every write tool", () => {
  const writing = TOOLS.map(({ listed }) => listed).filter(({ annotations, name }) =>
    // It writes the change of the proposed tool (approvals_test.ts).
    !annotations.readOnlyHint && name !== "decide_proposal"
  );
  assertEquals(
    [...new Set(Object.keys(STEPS).map((name) => name.split(" ")[0]!))].toSorted(),
    writing.map(({ name }) => name).toSorted(),
  );
});

Deno.test(`${sequences} × ${writes} random writes and undos leave the balances that the model predicts`, async () => {
  await using database = await openDatabase();
  const seeds = fc.sample(fc.infiniteStream(fc.nat(1_000_000)), { numRuns: sequences, seed: 20261120 });
  for (const stream of seeds) {
    const books = await openBooks(database, { day: "2026-11-20" });
    const run: Run = { database, books, model: new BooksModel(), undone: 0, redone: 0 };
    for (let step = 0; step < writes; step++) {
      const next = () => stream.next().value as number;
      const name = WEIGHTED[next() % WEIGHTED.length]!;
      await STEPS[name]!(run, (items) => items[next() % Math.max(1, items.length)], next());
      assertEquals(await balances(database, run.books), run.model.balances(), `after step ${step}, ${name}`);
    }
    const [{ wrong }] = await database.query<{ wrong: number }>(
      `select count(*)::int as wrong from app.expense_occurrences as o where organization_id = $1 and expense_id not in (select id from app.expenses where deleted_at is not null) and (
         paid_minor <> (select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)
           from app.payments as p where p.occurrence_id = o.id and p.deleted_at is null)
         or status = 'open' and paid_minor >= expected_minor or status = 'paid' and paid_minor < expected_minor)`,
      [run.books.organizationId],
    ) as [{ wrong: number }];
    assertEquals(
      wrong,
      0,
      "dates whose sums are wrong, or that are open though all was paid, or closed though it was not",
    );
    assert(run.undone > writes / 15, `only ${run.undone} undos worked`);
    assert(run.redone > writes / 100, `only ${run.redone} undos of undos worked`);
  }
});
