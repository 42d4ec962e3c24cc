/** Test of the test: once a violation is planted, each rule of hygiene.sql fails and names the culprit. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { rolledBack, runTap } from "../_support/tap.ts";

const source = await Deno.readTextFile(new URL("hygiene.sql", import.meta.url));
const [preamble = "", ...sections] = source.split(/\n(?=-- (?:Row-level security|Functions|Grants|Shape)\n)/);
const rules = sections.flatMap((section) => section.split("\n\n").filter((block) => /^select is/m.test(block)));

const database = await sharedDatabase();

Deno.test("hygiene.sql has all its rules", () => assert(rules.length > 20, `only ${rules.length} rules were found`));

for (const rule of rules) {
  const planted = /^-- planted: (.*)$/m.exec(rule)?.[1];
  const description = /'((?:[^']|'')*)'\);\n/.exec(rule)?.[1] ?? rule;
  Deno.test(`hygiene.sql finds the planted violation of: ${description}`, async () => {
    if (!planted) throw new Error("Nothing is planted against this rule");
    const assertions = await rolledBack(database, async (session) => {
      await runTap(session, preamble);
      await session.exec(planted);
      return await runTap(session, rule);
    });
    assertEquals(assertions.map(({ ok }) => ok), [false]);
    if (/^select is_empty/m.test(rule)) {
      assertMatch(assertions[0]!.diagnostics, /planted|fx_rates|currencies|anon/i);
    }
  });
}
