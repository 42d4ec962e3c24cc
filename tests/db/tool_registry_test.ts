/**
 * One registry of tools: the names and read-only flags in functions/mcp/tools must match the functions that the
 * database can run by name. The test fails if only one side has a tool, or if one side treats a write as a read.
 */
import { assertEquals } from "@std/assert";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import type { Session } from "../../local/database/sql.ts";
import { sharedDatabase } from "../_support/database.ts";
import { rolledBack } from "../_support/tap.ts";

/** Tools that the connector calls internally; clients cannot. */
const FOLLOW_UPS = ["store_bill_amounts"];

interface Known {
  name: string;
  writes: boolean;
}

const CONTRACTS: Known[] = [
  ...TOOLS.map(({ listed: { name, annotations } }) => ({ name, writes: !annotations.readOnlyHint })),
  ...FOLLOW_UPS.map((name) => ({ name, writes: true })),
];

/**
 * The tools that app.dispatch_tool can run: functions with only these two parameters, or with further ones that have
 * defaults.
 */
const knownTools = (session: Session) =>
  session.query<Known>(`
    select p.proname as name, app.is_write(p.proname) as writes
    from pg_proc as p
    where p.pronamespace = 'app'::regnamespace and p.prorettype = 'jsonb'::regtype
      and p.proargnames @> array['context', 'arguments'] and p.pronargs - p.pronargdefaults <= 2`);

const byName = <Row extends { name: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

async function judge(session: Session) {
  assertEquals(
    byName(await knownTools(session)),
    byName(CONTRACTS),
    "A tool needs a contract in functions/mcp/tools/mod.ts and app.<tool>(context, arguments), stable if it only reads; " +
      "no helper may have both parameters or a tool's name.",
  );
}

const PLANTED: Record<string, string> = {
  "the dispatch can run a function that no client is shown": `
    create function app.planted(context app.context, arguments jsonb) returns jsonb language sql return '{}'::jsonb`,
  "the dispatch can run a helper by its defaults": `
    create function app.planted(arguments jsonb, context app.context, more int default 1) returns jsonb
    language sql return '{}'::jsonb`,
  "the dispatch cannot run a tool": "alter function app.get_context rename to get_everything",
  "a tool that writes is declared as one that reads": "alter function app.log_expenses stable",
  "a tool that reads is declared as one that writes": "alter function app.review_bills volatile",
};

const database = await sharedDatabase();

Deno.test("one registry of tools: the contracts and the database's functions agree", () => rolledBack(database, judge));
for (const [what, change] of Object.entries(PLANTED)) {
  Deno.test(`one registry of tools: planted: ${what}`, () =>
    rolledBack(database, async (session) => {
      await session.exec(change);
      await fails(() => judge(session));
    }));
}

async function fails(work: () => Promise<void>) {
  const failure = await work().then(() => undefined, (thrown) => thrown);
  assertEquals(failure?.name, "AssertionError", "what was planted went unnoticed");
}
