/**
 * A tool's reads depend on its request and answer, not on the size of the books. The test counts the pages that a tool
 * touches with ten times as much data over the same years. Counts are equal on any machine; benchmarks measure time.
 */
import { importOf } from "../_support/import_args.ts";
import { assert, assertEquals } from "@std/assert";
import { buildLargeOrganization, LARGE, readAs, TODAY } from "../../bench/large_organization_reads.ts";
import type { Session } from "../../local/database/sql.ts";
import type { Json } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { pagesOf, rolledBack } from "../_support/tap.ts";

const BILLS = 200;
/** Half of the payments belong to bills. Then the other half grows tenfold. */
const [FEW, MANY] = [24_000, 132_000];
/** An index may be a level deeper. */
const MAX_GROWTH = 1.5;
const MONTH = { from: "2026-10-01", to: "2026-10-31" };
/** Warm-up, because a session plans its first calls again and reads the catalog. */
const WARM = 7;

const pagesOfTool = (session: Session, tool: string, args: Record<string, unknown>) =>
  pagesOf(session, "select app.run_tool($1, $2::text::jsonb, $3)", [
    tool,
    JSON.stringify(args),
    `${TODAY}T12:00:00Z`,
  ]);

/** Acts as the owner, then rolls back. */
const asOwner = <Result>(database: TestDatabase, work: (session: Session) => Promise<Result>) =>
  rolledBack(database, async (session) => {
    const claims = { sub: LARGE.userId, role: "authenticated", organization_id: LARGE.organizationId };
    await session.query("select set_config('request.jwt.claims', $1, true)", [JSON.stringify(claims)]);
    return await work(session);
  });

const pagesRead = (database: TestDatabase, tool: string, args: Record<string, unknown>) =>
  asOwner(database, async (session) => {
    for (let call = 0; call < WARM; call++) await pagesOfTool(session, tool, args);
    return await pagesOfTool(session, tool, args);
  });

const [few, many] = [await openDatabase(), await openDatabase()];
Deno.test.afterAll(async () => {
  await few.close();
  await many.close();
});

Deno.test.beforeAll(async () => {
  await buildLargeOrganization(few, { payments: FEW, bills: BILLS });
  await buildLargeOrganization(many, { payments: MANY, bills: BILLS });
});

for (
  const args of [{}, { due_within_days: 7 }, { due_within_days: 366 }, { status: "all", state: "due" }, {
    limit: 50,
  }]
) {
  Deno.test(`the pages read by list_bills ${JSON.stringify(args)} depend on the bills, not on payments`, async () => {
    const [one, other] = [await pagesRead(few, "list_bills", args), await pagesRead(many, "list_bills", args)];
    assert(other <= one * MAX_GROWTH, `${one} pages became ${other}`);
    assert(other <= 10 * BILLS, `${other} pages for ${BILLS} bills`);
  });
}
for (
  const [tool, args] of [
    ["list_expenses", MONTH],
    ["summarize_spending", { period: "last_month" }],
    ["summarize_spending", { period: "last_month", in_currency: "USD" }],
  ] as const
) {
  Deno.test(`the pages read by ${tool} ${JSON.stringify(args)} depend on the month, each row once`, async () => {
    const { total_count: rows } = await readAs(many, LARGE, "list_expenses", MONTH) as Json;
    const pages = await pagesRead(many, tool, args);
    assert(pages <= 300 + rows, `${pages} pages for ${rows} rows`);
  });
}
Deno.test("the pages read by an import and its undo cost the same per row for many as for few", async () => {
  const [short, long] = [await pagesARow(many, 200), await pagesARow(many, 2000)];
  for (const [step, pages] of Object.entries(long)) {
    assert(
      pages <= short[step as keyof typeof long] * 1.2,
      `${step}: ${short[step as keyof typeof long]} pages a row became ${pages}`,
    );
    // Each row also reads whether its month is closed, whether its payee has a rule, and whether it was split or
    // merged. The payments of fourteen months are read once, for recurring charges.
    assert(pages <= 260, `${step}: ${pages} pages a row`);
  }
});

/** Pages touched per row by importing that many rows and undoing it. */
async function pagesARow(database: TestDatabase, rows: number): Promise<{ importing: number; undoing: number }> {
  const items = Array.from({ length: rows }, (_, line) => ({
    line: line + 2,
    name: `Row ${line}`,
    amount: `${1 + line % 90}.50`,
    date: `2026-11-${10 + line % 10}`,
  }));
  return await asOwner(database, async (session) => {
    const [row] = await session.query<{ result: Json }>(
      "select app.run_tool('import_expenses', $1::text::jsonb, $2) as result",
      [JSON.stringify(importOf(items)), `${TODAY}T12:00:00Z`],
    );
    const { preview } = row!.result.data;
    assertEquals(preview.rows_ok, rows);
    return {
      importing: await pagesOfTool(session, "import_expenses", preview.commit_with) / rows,
      undoing: await pagesOfTool(session, "undo_change", {}) / rows,
    };
  });
}
