/**
 * A large file is imported and undone: the largest allowed with `--long`, otherwise seven pages, because PostgreSQL
 * caches plans from the sixth call on.
 */
import { assert, assertEquals } from "@std/assert";
import { collectGarbage } from "../_support/collect_garbage.ts";
import { keepFile, type Step, workThrough } from "../../shared/import/import_work.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { isInTime, slowness } from "../_support/machine.ts";

const ROWS = Deno.env.has("TEST_LONG") ? 50_000 : 14_000;
/** From the file's text to the books. */
const MOST_MS = 60_000;
/** The statement timeout of a signed-in person in hosted projects; publishing and undoing have their own. */
const MOST_STEP_MS = 8_000;
const MOST_HEAP_BYTES = 128 * 2 ** 20;

const database = await sharedDatabase();

/** Four years of a card, with a balance that proves each line. */
function statement(): { csv: string; total: string } {
  const lines = ["Date,Description,Amount,Balance"];
  let spent = 0;
  for (let i = 0; i < ROWS; i++) {
    const cents = 100 + i * 7919 % 9000;
    spent += cents;
    const day = new Date(Date.UTC(2022, 10, 1 + i * 4 * 365 / ROWS)).toISOString().slice(0, 10);
    lines.push(`${day},SHOP ${i % 700} BERLIN,-${major(cents)},${major(1_000_000_000 - spent)}`);
  }
  return { csv: lines.join("\n"), total: major(spent) };
}

const major = (cents: number) => (cents / 100).toFixed(2);

/** Processes a file until its preview. */
async function upload(books: Books, csv: string): Promise<{ preview: Json; longestMs: number; heapBytes: number }> {
  let longestMs = 0;
  let heapBytes = 0;
  let steps = 0;
  const step: Step = async (args) => {
    const startedAt = performance.now();
    const facts = await books.facts("import_expenses", args);
    longestMs = Math.max(longestMs, performance.now() - startedAt);
    // Only every tenth step, because forced collections would add to the import's time.
    if (steps++ % 10 === 0) {
      collectGarbage!();
      heapBytes = Math.max(heapBytes, Deno.memoryUsage().heapUsed);
    }
    return facts;
  };
  const clock = () => new Date(`${books.today()}T12:00:00Z`);
  const kept = await keepFile(step, { text: csv, account: "Visa 1234" }, clock);
  if ("problem" in kept) throw new Error(JSON.stringify(kept));
  const importId = kept.state.import_id;
  const deadline = new Date(clock().getTime() + 1);
  assertEquals(await workThrough(step, { importId, kept, clock, deadline }), { state: "ready" });
  return { preview: (await books.ok("import_expenses", { import_id: importId })).preview, longestMs, heapBytes };
}

/** A call with the time limit that PostgREST takes from `public.call_long_tool`, in proportion to the machine. */
async function callLong(books: Books, tool: string, args: Json): Promise<Json> {
  const claims = { sub: books.userId, organization_id: books.organizationId };
  return await database.asRole("authenticated", claims, async (session) => {
    await session.query("set local statement_timeout = " + Math.ceil(55_000 * slowness().wall));
    const [row] = await session.query<{ result: Json }>("select app.run_tool($1, $2::text::jsonb, $3) as result", [
      tool,
      JSON.stringify(args),
      `${books.today()}T12:00:00Z`,
    ]);
    assertEquals(row!.result.error, undefined);
    return row!.result;
  });
}

const count = async (books: Books) => (await books.call("list_expenses")).total_count;

Deno.test("a large import is published within a minute and undone at once", async () => {
  const books = await openBooks(database);
  await books.ok("log_expenses", {
    items: Array.from({ length: 100 }, (_, i) => ({ name: `Said ${i}`, amount: `${i + 1}.01`, date: "2021-10-01" })),
  });
  const { csv, total } = statement();
  const startedAt = performance.now();
  const { preview, longestMs, heapBytes } = await upload(books, csv);
  assertEquals([preview.rows_ok, preview.questions, preview.totals], [ROWS, [], { EUR: total }]);
  const { data, change_id } = await callLong(books, "import_expenses", preview.commit_with);
  const tookMs = performance.now() - startedAt;
  assertEquals([data.created, await count(books)], [ROWS, ROWS + 100]);
  assert(isInTime(longestMs, MOST_STEP_MS, "wall"), `the longest step took ${longestMs} ms`);
  assert(heapBytes < MOST_HEAP_BYTES, `${heapBytes} bytes`);
  assert(isInTime(tookMs, MOST_MS, "wall"), `took ${tookMs} ms`);

  await callLong(books, "undo_change", { change_id });
  assertEquals(await count(books), 100);
});
