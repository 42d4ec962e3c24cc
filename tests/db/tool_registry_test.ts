/**
 * One registry of tools: name and read-only flag in functions/mcp/tools must match the database's dispatch. A tool that
 * only one side has, or a write that the other side treats as a read, fails here.
 */
import { assertEquals } from "@std/assert";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import type { Session } from "../../local/database/sql.ts";
import { openDatabase } from "../_support/database.ts";
import { rolledBack } from "../_support/tap.ts";

/** Tools that the connector calls internally; clients cannot. */
const FOLLOW_UPS = ["store_bill_amounts"];

interface Known {
  name: string;
  /** The function that the dispatch runs. */
  calls: string;
  writes: boolean;
}

const CONTRACTS: Known[] = [
  ...TOOLS.map(({ listed: { name, annotations } }) => ({ name, calls: name, writes: !annotations.readOnlyHint })),
  ...FOLLOW_UPS.map((name) => ({ name, calls: name, writes: true })),
];

/** The dispatch as in the catalog; app.is_write then classifies each name. */
const knownTools = (session: Session) =>
  session.query<Known>(`
    select branch[1] as name, branch[2] as calls, app.is_write(branch[1]) as writes
    from pg_proc as p
    cross join regexp_matches(p.prosrc, 'when ''(\\w+)'' then return app\\.(\\w+)\\(', 'g') as branch
    where p.oid = 'app.dispatch_tool'::regproc`);

/** Functions with the signature of a tool; the dispatch and its wrappers also take a name. */
const toolFunctions = (session: Session) =>
  session.query<{ name: string; writes: boolean }>(`
    select p.proname as name, p.provolatile = 'v' as writes
    from pg_proc as p
    where p.pronamespace = 'app'::regnamespace and p.prorettype = 'jsonb'::regtype and p.proargnames = array['context', 'arguments']`);

const byName = <Row extends { name: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

async function judge(session: Session) {
  assertEquals(byName(await knownTools(session)), byName(CONTRACTS));
  const functions = new Map((await toolFunctions(session)).map(({ name, writes }) => [name, writes]));
  // A stable function cannot write. A volatile one may still be a read: it may record what is due by today.
  for (const { name, writes } of CONTRACTS) {
    assertEquals([name, functions.has(name)], [name, true]);
    if (writes) assertEquals([name, functions.get(name)], [name, true]);
  }
}

const PLANTED: Record<string, string> = {
  "the dispatch knows a tool that no client is shown": `
    when 'get_context' then return app.get_context(context, arguments); when 'planted' then return app.get_context(context, arguments);`,
  "the dispatch does not know a tool": "",
  "the dispatch runs another tool's function": "when 'get_context' then return app.list_expenses(context, arguments);",
};

Deno.test("one registry of tools: contracts, dispatch and is_write agree", async (t) => {
  const database = await openDatabase();
  try {
    await t.step("as they are", () => rolledBack(database, judge));
    for (const [what, branch] of Object.entries(PLANTED)) {
      await t.step(`planted: ${what}`, () =>
        rolledBack(database, async (session) => {
          const [{ source } = { source: "" }] = await session.query<{ source: string }>(
            "select pg_get_functiondef('app.dispatch_tool'::regproc) as source",
          );
          await session.exec(
            source.replace("when 'get_context' then return app.get_context(context, arguments);", () => branch),
          );
          await fails(() => judge(session));
        }));
    }
    await t.step("planted: a write classified as a read", () =>
      rolledBack(database, async (session) => {
        const [{ source } = { source: "" }] = await session.query<{ source: string }>(
          "select pg_get_functiondef('app.is_write'::regproc) as source",
        );
        await session.exec(source.replace("'review_bills'", "'review_bills', 'log_expenses'"));
        await fails(() => judge(session));
      }));
  } finally {
    await database.close();
  }
});

async function fails(work: () => Promise<void>) {
  const failure = await work().then(() => undefined, (thrown) => thrown);
  assertEquals(failure?.name, "AssertionError", "what was planted went unnoticed");
}
