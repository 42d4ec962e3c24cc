/**
 * The database reads every contract field: two calls that differ only in one must not give the same answer and leave
 * the same books. A new field needs a pair of values in contract_fields/; a test with its name fails if the SQL does
 * not read it.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import type { Session } from "../../local/database/sql.ts";
import { openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { rolledBack } from "../_support/tap.ts";
import { fill, outcome, run, TODAY } from "./contract_fields/books.ts";
import type { Case } from "./contract_fields/case.ts";
import { casesOf } from "./contract_fields/cases.ts";
import { fieldsOf, withField } from "./contract_fields/fields.ts";

const database = await sharedDatabase();
const books = await openBooks(database, { day: TODAY });
const ids = await fill(books, database);
const cases = casesOf(ids);

/** The result of a call, which is then rolled back. */
async function resultOf(
  session: Session,
  tool: string,
  { args, before = [] }: { args: object; before?: Case["before"] },
) {
  await session.exec("savepoint pair");
  for (const [earlier, its] of before) await run(session, earlier, its);
  const result = await outcome(session, await run(session, tool, args));
  await session.exec("rollback to savepoint pair; release savepoint pair");
  return result;
}

/** Fields of a tool whose two values give the same result. */
async function unreadFields(session: Session, tool: string): Promise<string[]> {
  const unread: string[] = [];
  /** Results of repeatable calls; many fields share one. */
  const firsts = new Map<string, unknown>();
  for (const [field, { values, with: more = {}, before }] of Object.entries(cases[tool] ?? {})) {
    const comes = (value: unknown) => resultOf(session, tool, { args: withField(more, field, value), before });
    const call = JSON.stringify([withField(more, field, values[0]), before]);
    if (!firsts.has(call)) {
      const first = await comes(values[0]);
      firsts.set(call, first);
      // Otherwise all results would differ, and the test would prove nothing.
      assertEquals(await comes(values[0]), first, `${tool}: the same call twice must compare equal, ${field}`);
    }
    if (await comes(values[1]) === firsts.get(call)) unread.push(field);
  }
  return unread;
}

/** Rolled back afterwards. */
const asPerson = (work: (session: Session) => Promise<void>) => {
  const claims = { sub: books.userId, organization_id: books.organizationId };
  return rolledBack({ transaction: (run) => database.asRole("authenticated", claims, run) }, work);
};

for (const { listed: { name, inputSchema: { properties }, _meta } } of TOOLS) {
  // The tool's follow-up reads files.
  const files = _meta["openai/fileParams"] as string[] ?? [];
  const inputSchema = {
    properties: Object.fromEntries(Object.entries(properties!).filter(([field]) => !files.includes(field))),
  };
  Deno.test(`${name} reads every field of its contract`, async () => {
    assertEquals(
      Object.keys(cases[name] ?? {}).toSorted(),
      fieldsOf(inputSchema).toSorted(),
      `Give each field of ${name} two values that must not come to the same, in tests/db/contract_fields/.`,
    );
    await asPerson(async (session) => assertEquals(await unreadFields(session, name), [], `${name} does not read`));
  });
}

Deno.test("test of the test: an unread field is found, because two calls give the same result", async () => {
  const [{ source } = { source: "" }] = await database.query<{ source: string }>(
    "select pg_get_functiondef('app.parse_expense_item'::regproc) as source",
  );
  assertStringIncludes(source, "item ->> 'note'");
  // Works as if the code that writes the note didn't exist.
  await database.exec(source.replace("item ->> 'note'", "null"));
  try {
    await asPerson(async (session) => assertEquals(await unreadFields(session, "log_expenses"), ["items[].note"]));
  } finally {
    await database.exec(source);
  }
});
