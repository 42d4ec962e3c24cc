/** The codes in the database and the rules match the catalog's words, in both directions. */
import { assertEquals, assertThrows } from "@std/assert";
import { readSchemaFiles } from "../../../local/sql/schema_files.ts";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { argumentsOf, callsOf, literalsIn } from "./sql_calls.ts";

const { en } = LANGUAGES;

const sql = (await readSchemaFiles()).map(({ sql }) => sql).join("\n");

/** The function arguments that are codes. If a call passes a code on, the test checks the call that made it. */
const CALLS: Record<string, { position: number; passesOn: string[] }> = {
  // `first ->> 'code'` is one item's error, raised for the whole call; `code` is the argument of fail_already_paid.
  "app.fail": { position: 0, passesOn: ["code", "first ->> 'code'"] },
  "app.fail_already_paid": { position: 0, passesOn: [] },
  "app.warning": { position: 0, passesOn: [] },
  "app.sync_fact": { position: 0, passesOn: ["u.code"] },
};

/** @throws {Error} for a code that the sources don't show */
function codesOf(call: string, text = sql): string[] {
  const { position, passesOn } = CALLS[call]!;
  return callsOf(text, call).flatMap((args) => {
    const code = argumentsOf(args)[position]!;
    if (passesOn.includes(code)) return [];
    const codes = /^'[^']*'$/.test(code) ? literalsIn(code) : branchesOf(code);
    if (codes.length === 0) throw new Error(`${call}(${code}, …) names no code`);
    return codes;
  });
}

/** Possible values of a `case`: literals, or the operands that the condition compares a variable with. */
const branchesOf = (code: string): string[] =>
  /^case\b[\s\S]*\bend$/.test(code)
    ? [...code.matchAll(/\bwhen\b([\s\S]*?)\bthen\b\s*('[^']*')?|\belse\s+('[^']*')/g)]
      .flatMap(([, condition = "", then, otherwise]) => literalsIn(then ?? otherwise ?? condition))
    : [];

const sorted = (codes: Iterable<string>) => [...new Set(codes)].toSorted();

/** Codes in the sources of the rules; types check that each has words (`RefusalCode`, `Assumption`). */
async function namedInRules(): Promise<Set<string>> {
  const tools = [...Deno.readDirSync("functions/mcp/tools")].filter(({ isDirectory }) => isDirectory)
    .map(({ name }) => `functions/mcp/tools/${name}`);
  const files = ["shared/connector", "shared/import", "shared/import/formats", ...tools].flatMap((folder) =>
    [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => `${folder}/${name}`)
  );
  const texts = await Promise.all(
    [...files, "functions/mcp/fetch_file.ts", "functions/mcp/tool_call.ts"].map((file) => Deno.readTextFile(file)),
  );
  return new Set(texts.flatMap((text) => [...text.matchAll(/"([a-z_]+(?:\.[a-z_]+)?)"/g)].map(([, word]) => word!)));
}
const rules = await namedInRules();

Deno.test("every code of app.fail() has a text, and every text a code", () => {
  // A waiting write isn't a failure, because its proposal remains.
  const settle = /create or replace function app\.settle_proposal[\s\S]+?\$\$;/.exec(sql)![0];
  const outcomes = [...settle.matchAll(/"?outcome"?'?[:,] ["'](\w+)["']/g)].map(([, outcome]) =>
    `not_decided.${outcome}`
  );
  const waits = [...sql.matchAll(/'code', '(awaiting_approval)'/g)].map(([, code]) => code!);
  const answered = [...outcomes.filter((code) => code !== "not_decided.busy"), ...waits];
  const codes = sorted([...codesOf("app.fail"), ...codesOf("app.fail_already_paid"), ...answered]);
  const words = Object.keys(en.refusals);
  assertEquals(codes.filter((code) => !words.includes(code)), []);
  assertEquals(words.filter((code) => !codes.includes(code) && !rules.has(code)), []);
});

Deno.test("every code of app.warning() has a text, and every text a code", () => {
  const codes = codesOf("app.warning");
  const words = Object.keys(en.warnings);
  assertEquals(codes.filter((code) => !words.includes(code)), []);
  // Warnings from reading a file pass through the database, or are added after its result.
  const ofFiles = [
    "document_left_out",
    "document_not_attached",
    "document_place_unused",
    "encoding",
    "sheets_left_out",
  ];
  assertEquals(sorted(words.filter((code) => !codes.includes(code))), ofFiles);
  assertEquals(ofFiles.filter((code) => !rules.has(code)), []);
});

Deno.test("every event on the activity page has a text", () => {
  const events = [
    ...sql.matchAll(/'((?:account|approval|books|calendar|grant|member|organization|provider|reminders)\.[a-z_]+)'/g),
  ].map(([, event]) => event!);
  const { activity } = en.pages;
  const decided = ["approved", "refused", "stale", "withdrawn"].map((state) => `approval.${state}`);
  const wordless = sorted([...events, ...decided, "payment.activated"]).filter((event) =>
    activity.event(event, {}) === activity.event(`${event}!`, {}).slice(0, -1)
  );
  assertEquals(activity.event("books.moved_away", {}), "Books moved away");
  // The people who could read these are gone.
  assertEquals(wordless, ["account.deleted", "organization.deleted"]);
});

Deno.test("every outcome of app.sync_fact() has a text, and every text an outcome", () => {
  const unasked = /create or replace function app\.describe_unasked[\s\S]+?\$\$;/.exec(sql)![0];
  // array['failed', 'not_connected']: the status, and the code.
  const chosen = [...unasked.matchAll(/array\['\w+', '(\w+)'\]/g)].map(([, code]) => code!);
  assertEquals(sorted([...codesOf("app.sync_fact"), ...chosen]), sorted(Object.keys(en.outcomes)));
});

Deno.test("every assumption with a text is made while an import is read or staged", () => {
  const staged = [...sql.matchAll(/'code', '(\w+_assumed)'/g)].map(([, code]) => code!);
  assertEquals(Object.keys(en.assumptions).filter((code) => !rules.has(code) && !staged.includes(code)), []);
});

Deno.test("every write tool and automatic change has texts for its effects", () => {
  const writing = TOOLS.filter(({ listed }) => !listed.annotations.readOnlyHint).map(({ listed }) => listed.name);
  const inserted = [
    ...[...sql.matchAll(/insert into app\.change_sets[\s\S]+?;/g)].flatMap(([insert]) => literalsIn(insert)),
    ...callsOf(sql, "app.begin_change").flatMap(literalsIn),
  ].filter((literal) => /^(autopay|provider_sync|unsubscribe)$/.test(literal));
  assertEquals(sorted(inserted), ["autopay", "provider_sync", "unsubscribe"]);
  // Descriptions of other changes cover these two, and the sync's second call describes the sync.
  const nested = ["provider_sync", "undo_change"];
  // A decision writes the change of the proposed tool.
  const told = [...writing.filter((name) => name !== "decide_proposal"), ...inserted].map((name) =>
    name === "sync_bill_amounts" ? "store_bill_amounts" : name
  );
  assertEquals(sorted([...Object.keys(en.changes), ...nested]), sorted(told));
});

Deno.test("test of the test: codes are found anywhere in a call, and a computed code is reported", () => {
  const find = (text: string) => codesOf("app.fail", text);
  assertEquals(find("perform app.fail('busy');"), ["busy"]);
  assertEquals(find("perform app.fail(\n  case when a ->> 'x' = 'Y z' then 'one.a' else 'two' end, '{}'\n);"), [
    "one.a",
    "two",
  ]);
  assertEquals(find("perform app.fail(code, f(a, 'b'));"), []);
  assertThrows(() => find("perform app.fail('ab' || kind, '{}');"), Error, "names no code");
  assertEquals(find("-- app.fail('gone')\nperform app.fail_not_due(bill, 'x');"), []);
});
