import { assertEquals, assertMatch } from "@std/assert";
import { type Envelope, MAX_TEXT_CHARACTERS, toolResult as result } from "../../../shared/connector/result.ts";
import { en } from "../../../shared/words/en/mod.ts";

const toolResult = (envelope: Envelope) => result(envelope, en);

const textOf = (envelope: Envelope) => toolResult(envelope).content[0]!.text;

Deno.test("toolResult() returns the same data as text and as structured content", () => {
  const envelope = { ok: true, data: { rows: [{ id: "exp_1" }] } };
  assertEquals(toolResult(envelope), {
    content: [{ type: "text", text: JSON.stringify(envelope) }],
    structuredContent: envelope,
  });
  assertEquals(toolResult({ ok: false, error: { code: "x", message: "y", retryable: false } }).isError, true);
});

Deno.test("toolResult() keeps as many rows as fit", () => {
  const rows = Array.from({ length: 900 }, (_, index) => ({ id: `exp_${String(index).padStart(30, "0")}` }));
  const text = textOf({ ok: true, data: { rows, fx: { rule: "payment date" } }, next_cursor: "abc" });
  const shown = JSON.parse(text);
  assertEquals(text.length <= MAX_TEXT_CHARACTERS, true);
  assertEquals(text.length > MAX_TEXT_CHARACTERS - 100, true);
  assertEquals([shown.next_cursor, shown.data.fx, shown.data.rows], [
    "abc",
    { rule: "payment date" },
    rows.slice(0, shown.data.rows.length),
  ]);
});

Deno.test("toolResult() cuts a CSV between lines", () => {
  const lines = ["id,name,amount", ...Array.from({ length: 3000 }, (_, index) => `exp_${index},Lunch,14.50`)];
  const shown = JSON.parse(textOf({ ok: true, data: { csv: lines.join("\n") } }));
  const kept = shown.data.csv.split("\n");
  assertEquals(kept, lines.slice(0, kept.length));
  assertMatch(shown.hint, /\d+ of 3001 csv/);
});

Deno.test("toolResult() cuts the next list when cutting the longest is not enough", () => {
  const long = (length: number) => Array.from({ length }, () => "x".repeat(50));
  const shown = JSON.parse(textOf({ ok: true, data: { categories: long(800), payees: long(900) } }));
  assertEquals([shown.data.payees, shown.data.categories.length > 400], [[], true]);
});

Deno.test("toolResult() reports a result with nothing to cut", () => {
  const shown = JSON.parse(textOf({ ok: true, data: { total: { note: "x".repeat(30_000) } } }));
  assertEquals([shown.ok, shown.truncated, shown.data], [true, true, undefined]);
});
