/** Large organizations: each query still uses its index under row-level security. */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

/** A member's query plan, with sequential scans discouraged. */
async function explain(database: TestDatabase, books: Books, statement: string): Promise<string> {
  const rows = await database.asRole(
    "authenticated",
    { sub: books.userId, organization_id: books.organizationId },
    async (session) => {
      await session.exec(
        "set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off",
      );
      return await session.query<{ "QUERY PLAN": string }>(`explain (costs off) ${statement}`);
    },
  );
  return rows.map((row) => row["QUERY PLAN"]).join("\n");
}

/** A date-only filter. */
const days = (from: string, to: string) =>
  `row(${from}, ${to}, null, null, null, '{}', null, null, null, null, null, null, null, null, null, null, null, null, null)::app.expense_filter`;

testBooks("plans", {}, {
  "a page starts where the last one ended": async (books, database) => {
    for (
      const [key, index, value] of [["paid_on", "payments_newest_idx", "'2026-10-06'::date"], [
        "sort_minor",
        "payments_largest_idx",
        "100::bigint",
      ]]
    ) {
      const page = `select * from app.find_payments(${
        days("null", "null")
      }) as p where (p.${key}, p.recorded_seq) < (${value}, 5::bigint) order by p.${key} desc, p.recorded_seq desc limit 26`;
      assertMatch(
        await explain(database, books, page),
        new RegExp(`Index Scan Backward using ${index}[^]*Index Cond: .*organization_id.*ROW\\(`),
      );
    }
  },

  "a month's totals by currency and category read only payments": async (books, database) => {
    const month = days("'2026-09-01'", "'2026-09-30'");
    const plan = await explain(
      database,
      books,
      `select currency, category_id, direction, sum(amount_minor) from app.find_payments(${month}) group by 1, 2, 3`,
    );
    assertMatch(plan, /paid_on >= .*paid_on <= /);
    // Expenses are checked only for members with hidden records, once per statement.
    assertNotMatch(plan, /currencies|Join|Nested Loop/);
    assertEquals(plan.match(/on expenses/g)?.length, 1);
  },

  "a payee is found by its match key": async (books, database) => {
    const plan = await explain(
      database,
      books,
      "select category_id from app.expenses where match_key = 'cafe' and deleted_at is null order by recorded_seq desc limit 1",
    );
    assertMatch(plan, /Index Scan Backward using expenses_match_key_idx[^]*Index Cond: .*match_key = 'cafe'/);
  },

  "the latest change is the last entry": async (books, database) => {
    assertMatch(
      await explain(database, books, "select * from app.change_sets order by recorded_seq desc limit 1"),
      /Index Scan Backward using change_sets_newest_idx/,
    );
  },
});
