/**
 * Plans depend on table statistics, which lag behind in a new project: its tables were never analyzed, or analyzed
 * while small. The test counts the pages that large writes and reads touch in each state, because a plan for few rows
 * scans the whole table for each row.
 */
import { assert, assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { type Part, PARTS } from "../../shared/export/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { importOf } from "../_support/import_args.ts";
import { pagesOf } from "../_support/tap.ts";

const ROWS = 2000;
/**
 * Each row also reads whether its month is closed, whether its payee has a rule, and whether it was split or merged.
 */
const MOST_A_ROW = 240;
const STATES = ["never analyzed", "analyzed while small", "analyzed when large"] as const;

/** Rows over most of a year. */
const rowsOf = (count: number, year: number, name: string) =>
  Array.from({ length: count }, (_, i) => ({
    line: i + 2,
    name: `${name} ${i % 300}`,
    amount: `${1 + i % 90}.${10 + i % 90}`,
    date: new Date(Date.UTC(year, 0, 1 + Math.floor(i * 300 / count))).toISOString().slice(0, 10),
  }));

/** In a person's words. */
const itemsOf = (count: number, year: number, name: string) =>
  rowsOf(count, year, name).map(({ line: _, ...item }) => item);

/** The pages that a SQL function touches as the signed-in person. */
async function pagesAs(database: TestDatabase, books: Books, call: string, args: unknown[]): Promise<number> {
  const claims = { sub: books.userId, organization_id: books.organizationId };
  return await database.asRole("authenticated", claims, async (session) => {
    await session.exec("set local statement_timeout = 0");
    return await pagesOf(session, `select ${call}`, args);
  });
}

/** The pages that a part of the archive touches, from its first page to its last. */
async function pagesOfPart(database: TestDatabase, books: Books, part: Part): Promise<{ pages: number; rows: number }> {
  const claims = { sub: books.userId, organization_id: books.organizationId };
  const total = { pages: 0, rows: 0 };
  for (let after: unknown = null, isLast = false; !isLast;) {
    const args = [part, JSON.stringify(after)];
    const call = "app.read_export_page($1, nullif($2::text::jsonb, 'null'), null, null)";
    total.pages += await pagesAs(database, books, call, args);
    const [row] = await database.asRole(
      "authenticated",
      claims,
      (session) => session.query<{ page: Json }>(`select ${call} as page`, args),
    );
    total.rows += row!.page.rows.length;
    after = row!.page.next;
    isLast = after === null;
  }
  return total;
}

for (const state of STATES) {
  Deno.test(`large writes and reads touch few pages per row on tables ${state}`, async () => {
    await using database = await openDatabase();
    const books = await openBooks(database);
    const analyze = (when: typeof state) => state === when && database.exec("analyze");
    const pages = async (tool: string, args: Json, { rows = ROWS, most = MOST_A_ROW } = {}) => {
      const call = [tool, JSON.stringify(args), `${books.today()}T12:00:00Z`];
      const each = await pagesAs(database, books, "app.run_tool($1, $2::text::jsonb, $3)", call) / rows;
      assert(each <= most, `${tool}: ${each} pages a row`);
    };
    await books.ok("log_expenses", { items: itemsOf(60, 2025, "Said") });
    await analyze("analyzed while small");
    const file = { ...importOf(rowsOf(ROWS, 2026, "Shop")), account: "Visa" };
    await pages("import_expenses", file);
    await analyze("analyzed when large");
    const [batch] = await database.query<{ id: string }>("select id from app.import_batches");
    const { preview } = await books.ok("import_expenses", { import_id: batch!.id });
    assertEquals(preview.rows_ok, ROWS);
    await pages("import_expenses", preview.commit_with);
    await analyze("analyzed when large");
    assertEquals((await books.call("list_expenses")).total_count, 60 + ROWS);
    await pages("list_expenses", { limit: 100 });
    await pages("list_expenses", { query: "shop 7", limit: 100 });
    await pages("summarize_spending", { period: "this_year" });
    await pages("reconcile", { account: "Visa" });
    for (const part of PARTS) {
      const read = await pagesOfPart(database, books, part);
      const each = read.pages / Math.max(read.rows, 100);
      assert(each <= MOST_A_ROW, `${part}: ${each} pages a row`);
    }
    // Each row is an existing line.
    await pages("import_expenses", file);
    await pages("log_expenses", { items: itemsOf(100, 2026, "Shop") }, { rows: 100, most: 2 * MOST_A_ROW });
    await pages("undo_change", {}, { rows: 100, most: 2 * MOST_A_ROW });
    const [{ id }] = await database.query<{ id: string }>(
      "select id from app.change_sets where tool = 'import_expenses' order by recorded_seq desc limit 1",
    ) as [{ id: string }];
    await pages("undo_change", { change_id: id }, { most: 2 * MOST_A_ROW });
    assertEquals((await books.call("list_expenses")).total_count, 60);
  });
}
