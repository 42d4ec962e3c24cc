/** A version counts changes to a row (app.bump_version), except for equal or derived values. */
import { assertEquals } from "@std/assert";
import { openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

/** The versions of a one-off expense and its payment after a statement. */
const versionAfter = (table: "expenses" | "payments", set: string) =>
  database.transaction(async (session) => {
    const [row] = await session.query<{ version: number }>(
      `update app.${table} set ${set} where organization_id is not null returning version`,
    );
    return row!.version;
  });

Deno.test("a version changes with typed fields and ignores derived ones", async () => {
  await database.reset();
  const books = await openBooks(database);
  await books.ok("log_expenses", { items: [{ name: "Lunch", amount: "14.50", tags: ["work"] }] });
  const cases: [table: "expenses" | "payments", set: string, changes: boolean][] = [
    ["expenses", "name = name, note = note, tags = tags, sharing = sharing", false],
    ["expenses", "note = 'With Ann'", true],
    ["expenses", "note = 'With Ann', tags = '{work}'", false],
    ["expenses", "note = null", true],
    ["expenses", "tags = '{work,home}'", true],
    ["expenses", "sharing = null, next_due = null", false],
    ["payments", "amount_minor = amount_minor, paid_on = paid_on", false],
    ["payments", "tax_minor = 95, tax_percent = 7.5", true],
    ["payments", "tax_percent = 7.500", false],
    ["payments", "is_final = false, base_minor = base_minor", false],
    ["payments", "amount_minor = 1500", true],
    ["payments", "deleted_at = now()", true],
  ];
  const versions = { expenses: 1, payments: 1 };
  for (const [table, set, changes] of cases) {
    if (changes) versions[table]++;
    assertEquals(await versionAfter(table, set), versions[table], `${table}: ${set}`);
  }
});
