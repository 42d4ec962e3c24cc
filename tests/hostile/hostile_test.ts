/**
 * No text makes one of our parsers slow. Each gets every hostile shape at a quarter, a half and all of its maximum
 * input, measured in CPU time. The first shape is a CSV of stray quotes that once took 70 s.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { parseProject, readProject } from "../architecture/project.ts";
import { judge } from "./cost.ts";
import { PARSERS } from "./parsers.ts";
import { SHAPES } from "./shapes.ts";

for (const { name, run, shapes = Object.keys(SHAPES), ...limits } of PARSERS) {
  Deno.test(`hostile text: ${name}`, async () => {
    const slow: string[] = [];
    for (const shape of shapes) {
      const problem = await judge(run, SHAPES[shape]!, limits);
      if (problem) slow.push(`${shape} ${problem}`);
    }
    assertEquals(slow, []);
  });
}

const LETTERS = SHAPES["one letter"]!;

/** Rereads all letters for each letter: n². */
function quadratic(text: string): number {
  let seen = 0;
  for (let to = 0; to < text.length; to++) for (let at = 0; at < to; at++) seen += text.charCodeAt(at);
  return seen;
}

/** Reads every letter this many times. */
const linear = (times: number) => (text: string) => {
  let seen = 0;
  for (let i = 0; i < times; i++) for (let at = 0; at < text.length; at++) seen += text.charCodeAt(at);
  return seen;
};

Deno.test("judge() finds quadratic cost, slow or not", async () => {
  assertMatch((await judge(quadratic, LETTERS, { limit: 25_000, mostMs: 5_000 }))!, /^grows faster than n log n: /);
});

Deno.test("judge() finds calls that take too long, and accepts linear cost", async () => {
  assertMatch((await judge(linear(2_000), LETTERS, { limit: 100_000, mostMs: 40 }))!, /^takes (more than )?\d+ ms/);
  assertEquals(await judge(linear(300), LETTERS, { limit: 100_000 }), undefined);
  assertEquals(await judge(quadratic, LETTERS, { limit: 500 }), undefined);
});

/** Code that parses text: patterns, and libraries' parsers. Strings and comments are removed first. */
const READS =
  /(?<=[(=>:?&|!,]\s*)\/(?![/*])[^\n]+?\/[dgimsuvy]*(?=[.;,)\s])|\bJSON\.parse\(|\bnew RegExp\(|\.normalize\(|\bXMLParser\b/;
const IGNORED = /"(?:[^"\\\n]|\\.)*"|^\s*(?:\/?\*|\/\/).*$/gm;

/** Rule files that read text with a pattern but are not tried, with the reason. */
const NOT_TRIED: Readonly<Record<string, string>> = {
  "shared/billing/signature.ts": "one anchored class of characters, before a digest is compared",
  "shared/connector/argument_error.ts": "patterns of our own contracts, on an empty text",
  "shared/config.ts": "the operator's settings, at startup",
  "shared/credentials/envelope.ts": "our own sealed envelopes",
  "shared/db/client.ts": "codes of our own database",
  "shared/export/accountant_folder.ts": "one class of characters, in a name of at most 120",
  "shared/export/books_archive.ts": "one class of characters, in a name of at most 120",
  "shared/export/datev_booking.ts": "anchored patterns, on our own amounts and ids",
  "shared/export/datev_format.ts": "classes of characters, in texts of at most 500",
  "shared/export/datev_settings.ts": "one anchored class of characters, of a fixed length",
  "shared/export/plain_text_accounting.ts": "classes of characters, in names of at most 500",
  "shared/http/browser_token.ts": "one anchored class of characters, of a fixed length",
  "shared/http/caller_secret.ts": "one header line: a word, spaces, and the rest",
  "shared/http/request_id.ts": "one anchored class of characters, of a fixed length",
  "shared/http/session.ts": "names of cookies, anchored at their beginning",
  "shared/inbound/fetch_mail.ts": "one anchored word, in our own id",
  "shared/inbound/inbound_url.ts": "the operator's settings",
  "shared/inbound/mailgun.ts": "anchored classes of characters, of a limited length",
  "shared/inbound/resend.ts": "after the signature: an anchored pattern of a limited length",
  "shared/mail/html_part.tsx": "anchored patterns, on our own lines",
  "shared/net/guarded_fetch.ts": "messages of the runtime",
  "shared/providers/anthropic.ts": "tested through the registry (credentials of providers)",
  "shared/providers/digitalocean.ts": "tested through the registry (credentials of providers)",
  "shared/providers/get.ts": "the operator's settings",
  "shared/providers/github.ts": "tested through the registry (credentials of providers)",
  "shared/providers/openai.ts": "tested through the registry (credentials of providers)",
  "shared/providers/vercel.ts": "tested through the registry (credentials of providers)",
  "shared/rates/sources.ts": "the operator's settings",
  "shared/urls.ts": "the operator's settings",
  "shared/words/en/arguments.ts": "one anchored list of words",
  "shared/words/en/contract.ts": "the first letter of a type that our own schema names",
  "shared/words/en/draft_cancellation.ts": "an anchored word, in our own term",
  "shared/words/en/log_expenses.ts": "our own difference of amounts",
  "shared/words/en/phrases.ts": "the sign of our own amount",
  "shared/words/en/show_spending_chart.ts": "names of periods that our own schema lists",
  "shared/words/letters.ts": "line breaks, in answers of our database within the contract's limits",
};

Deno.test("every file in shared/ that reads text by a pattern is in the parser table, or is listed with a reason", async () => {
  const { files } = parseProject(await readProject());
  const tried = new Set(
    files.filter(({ path }) => path.startsWith("tests/hostile/parsers/"))
      .flatMap(({ imports }) => imports.map(({ path }) => path)),
  );
  const reads = (text: string) => READS.test(text.replaceAll(IGNORED, ""));
  const reading = files.filter(({ path, text }) => path.startsWith("shared/") && reads(text)).map(({ path }) => path);
  assertEquals(reads("const isName = (text: string) => /^[a-z]+$/.test(text);"), true);
  assertEquals(reading.filter((path) => !tried.has(path) && !(path in NOT_TRIED)), []);
  assertEquals(Object.keys(NOT_TRIED).filter((path) => !reading.includes(path)), [], "is not needed any more");
});
