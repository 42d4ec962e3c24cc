/** The database returns facts: its sources contain no sentences, except where no TypeScript presents them. */
import { assertEquals } from "@std/assert";
import { readSchemaFiles } from "../../../local/sql/schema_files.ts";
import { literalsIn, withoutComments } from "./sql_calls.ts";

/** Kinds of literals that may have three words. */
const EXCEPTIONS: [reason: string, literal: RegExp][] = [
  [
    "dynamic SQL",
    /^\s*(create trigger|delete from|on app\.%I as restrictive)\b|\$1\b/,
  ],
  ["ISO 4217 codes", /^\s*([A-Z]{3}\s*)+$/],
  ["names of the categories that a new organization begins with", /^(Internet and phone|Taxes and fees)$/],
  [
    "keywords of these categories",
    /^(lunch dinner|grocery groceries|rent mortgage|electricity power|internet broadband|taxi cab|flight airline|doctor dentist) /,
  ],
  [
    "keywords of these categories",
    /^(clothes shoes|subscription netflix|software hosting|movie cinema|course tuition|gift present|tax taxes) /,
  ],
  ["a pattern of what banks write after a processor's name", /^\( europe\)\?/],
  ["the signature of a function", /^net\.http_get\(/],
  ["the condition of a trigger", /^old\.%1\$I is distinct from new\.%1\$I$/],
  ["an answer to the identity server, which shows it as it is", /^\{"error": \{"http_code": 403, "message": /],
  [
    "why a job or a migration stops, for whoever runs the service",
    /^(cannot call %|This database has no pg_cron|Enable both extensions|a reviewer belongs to one organization$)/,
  ],
  ["why a payment event is refused, for our log", /^Subscription % belongs to another organization$/],
];

/** Words and placeholders, as in format() and raise. */
function isSentence(literal: string): boolean {
  const tokens = literal.split(/\s+/).map((token) => token.replace(/^["'(\[{]+|["'.,;:!?)\]}]+$/g, ""));
  const words = tokens.filter((token) => /^\p{L}[\p{L}'’-]*$/u.test(token));
  return words.length > 0 && words.length + tokens.filter((token) => /^%(\d+\$)?[sIL]?$/.test(token)).length >= 3;
}

function sentencesIn(sql: string): string[] {
  const code = withoutComments(sql)
    .replace(/\bcomment on [\s\S]*? is(?:\s+'(?:[^']|'')*')+;/g, "")
    .replace(/\b(?:create|drop|alter) policy "[^"]*"/g, "")
    // Consecutive lines of string literals form one string.
    .replace(/'[ \t]*\n\s*'/g, "");
  return literalsIn(code).filter(isSentence).filter((literal) => !EXCEPTIONS.some(([, known]) => known.test(literal)));
}

Deno.test("supabase/ contains no sentence for readers", async () => {
  for (const { path, sql } of await readSchemaFiles()) assertEquals(sentencesIn(sql), [], path);
});

Deno.test("test of the test: only sentences are found, anywhere in SQL", () => {
  const planted = [
    "perform app.fail('invalid_argument', 'The amount is missing.');",
    "message := format('%s was skipped on %s.', bill.name, due_on);",
    "words := bill.name || ' is overdue since ' || due_on;",
    "return jsonb_build_object('text', 'There is no bill called \"' || name || '\".');",
    "raise exception 'It''s not %, and -- no comment either', x;",
    "what := case when verb is null then 'has been undone' end;",
    "execute $query$ select 'Nothing was changed.' $query$;",
  ];
  assertEquals(planted.filter((sql) => sentencesIn(sql).length === 0), []);
  const harmless = [
    "-- 'The amount is missing.'",
    "comment on table app.fx_rates is 'What one euro buys, by day and source;\n   it''s never null.';",
    'create policy "Members read their own books" on app.expenses for select to authenticated using (true);',
    'to_char(day, \'YYYY-MM-DD"T"HH24:MI:SS"Z"\')',
    "status in ('open', 'paid', 'skipped')",
  ];
  assertEquals(harmless.flatMap(sentencesIn), []);
});
