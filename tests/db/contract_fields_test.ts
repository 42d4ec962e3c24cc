/**
 * Every field of every contract is read: two calls that differ in it alone must not answer the same and leave the same books. Whoever adds a
 * field adds a pair of its values to contract_fields/; a field that the SQL forgets to read fails here by its name.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import type { Session } from "../../local/database/sql.ts";
import { openBooks } from "../_support/books.ts";
import { openDatabase } from "../_support/database.ts";
import { fill, outcome, run, TODAY } from "./contract_fields/books.ts";
import type { Case } from "./contract_fields/case.ts";
import { casesOf } from "./contract_fields/cases.ts";
import { fieldsOf, withField } from "./contract_fields/fields.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
const books = await openBooks(database, { day: TODAY });
const ids = await fill(books, database);
const cases = casesOf(ids);

/** What a call comes to, after which nothing of it is left. */
async function comesTo(
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

/** Fields of a tool whose two values come to the same. */
async function unreadFields(session: Session, tool: string): Promise<string[]> {
  const unread: string[] = [];
  for (const [field, { values, with: more = {}, before }] of Object.entries(cases[tool]!)) {
    const comes = (value: unknown) => comesTo(session, tool, { args: withField(more, field, value), before });
    const first = await comes(values[0]);
    // Else everything would differ, and the test would show nothing.
    assertEquals(await comes(values[0]), first, `${tool}: the same call twice must compare as the same, ${field}`);
    if (await comes(values[1]) === first) unread.push(field);
  }
  return unread;
}

/** What is done in it is taken back. */
const asPerson = (work: (session: Session) => Promise<void>) => {
  const takenBack = new Error("taken back");
  const claims = { sub: books.userId, organization_id: books.organizationId };
  return database.asRole("authenticated", claims, async (session) => {
    await work(session);
    throw takenBack;
  }).catch((thrown) => {
    if (thrown !== takenBack) throw thrown;
  });
};

for (const { listed: { name, inputSchema } } of TOOLS) {
  Deno.test(`${name} reads every field of its contract`, async () => {
    assertEquals(
      Object.keys(cases[name] ?? {}).toSorted(),
      fieldsOf(inputSchema).toSorted(),
      `Give each field of ${name} two values that must not come to the same, in tests/db/contract_fields/.`,
    );
    await asPerson(async (session) => assertEquals(await unreadFields(session, name), [], `${name} does not read`));
  });
}

Deno.test("a field that nothing reads is found: two calls that differ in nothing come to the same", async () => {
  const call = { args: { items: [{ name: "Coffee", amount: "2.00" }] } };
  await asPerson(async (session) => {
    const before = await comesTo(session, "log_expenses", call);
    // As if somebody had forgotten the note on its way into the books.
    const [{ source } = { source: "" }] = await session.query<{ source: string }>(
      "select pg_get_functiondef('app.parse_expense_item'::regproc) as source",
    );
    assertStringIncludes(source, "item ->> 'note'");
    await session.exec(`reset role; ${source.replace("item ->> 'note'", "null")}; set local role authenticated`);
    assertEquals(await comesTo(session, "log_expenses", call), before);
    assertEquals(await unreadFields(session, "log_expenses"), ["items[].note"]);
    await session.exec("reset role");
  });
});
