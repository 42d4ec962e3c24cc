/** Limits on reading a message: small for strangers, by tool for everyone else. */
import { assert, assertEquals } from "@std/assert";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { type JsonSchema, PATTERNS } from "../../../shared/connector/schema.ts";
import { MESSAGE_BYTES } from "../../../shared/connector/tool.ts";
import { ERAS, messageOf, NO_PLAN, startConnector } from "./harness.ts";

const INVALID = { outcome: "invalid_token" };

const callOf = (name: string, args: Record<string, unknown>) =>
  JSON.stringify(ERAS["2025-11-25"]("tools/call", { name, arguments: args }).body);

/** A stream of a text in pieces of 16 KiB, and the number of requested bytes. */
function counted(text: string) {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(bytes.slice(sent, sent += 16_384));
      if (sent >= bytes.length) controller.close();
    },
  }, { highWaterMark: 0 });
  return { body, sent: () => sent };
}

// A file of stray quotes that once took 70 s to read.
const ATTACK = callOf("import_expenses", {
  csv: `date,amount,name\n"${'"x'.repeat(131_000)}${" ".repeat(261_970)},\n`,
});

Deno.test("a stranger's long message is refused before it is read, with one cheap call", async () => {
  for (const [verdict, status] of [[INVALID, 401], [NO_PLAN, 403]] as const) {
    const { stream, calls } = startConnector({ authenticate_bearer: () => verdict, call_tool: () => verdict });
    const { body, sent } = counted(ATTACK);
    assertEquals((await stream(body)).status, status);
    assertEquals(calls.map(({ name }) => name), ["authenticate_bearer"]);
    assert(sent() <= 2 * MESSAGE_BYTES, `${sent()} bytes were read`);
  }
});

Deno.test("an authenticated long message is read completely, and its tool runs", async () => {
  const { stream, calls } = startConnector();
  const { result } = await messageOf(await stream(counted(ATTACK).body));
  // The file has no readable rows, and the caller is authenticated once.
  assertEquals([result.isError, calls.map(({ name }) => name)], [true, ["authenticate_bearer"]]);
  const csv = ["Date,Name,Amount", ...Array(1900).fill(`2026-10-01,${"x".repeat(60)},14.50`)].join("\n");
  assertEquals((await stream(counted(callOf("import_expenses", { csv })).body)).status, 200);
  assertEquals(calls.map(({ name }) => name).slice(1), ["authenticate_bearer", "call_tool"]);
});

Deno.test("a long message that no tool accepts returns 413, even when authenticated", async () => {
  const padding = "x".repeat(MESSAGE_BYTES + 1);
  const bodies = [
    callOf("get_context", { padding }),
    callOf("no_such_tool", { padding }),
    JSON.stringify(ERAS["2025-11-25"]("tools/list", { padding }).body),
    `[${callOf("log_expenses", { padding })}]`,
    padding,
    "[".repeat(MESSAGE_BYTES + 1),
  ];
  for (const body of bodies) {
    const { post, calls } = startConnector();
    assertEquals([(await post(body)).status, calls.map(({ name }) => name)], [413, ["authenticate_bearer"]]);
  }
});

Deno.test("a declared length is not trusted", async () => {
  for (const length of ["0", "10", "99999999", "-1", "x"]) {
    const { post, calls } = startConnector({ authenticate_bearer: () => INVALID, call_tool: () => INVALID });
    assertEquals((await post(ATTACK, { headers: { "content-length": length } })).status, 401, length);
    assertEquals(calls.map(({ name }) => name), ["authenticate_bearer"]);
    const short = callOf("get_context", {});
    assertEquals((await startConnector().post(short, { headers: { "content-length": length } })).status, 200, length);
  }
});

Deno.test("every tool's limit fits the longest call that its contract allows, and little more", () => {
  for (const { listed: { name, inputSchema }, maxBytes } of TOOLS) {
    // A file of the maximum length, with quotation marks and line ends escaped.
    const args = name === "import_expenses"
      ? { csv: '"Coffee, to go"\n'.repeat(32_768), mapping: longest(inputSchema.properties!.mapping!) }
      : longest(inputSchema);
    const bytes = new TextEncoder().encode(callOf(name, args as Record<string, unknown>)).length;
    assert(bytes <= maxBytes, `${name}: ${bytes} bytes of ${maxBytes}`);
    assert(maxBytes === MESSAGE_BYTES || maxBytes < 2 * bytes, `${name}: ${bytes} bytes of ${maxBytes}`);
  }
});

const SAMPLES: Record<string, string> = {
  [PATTERNS.date]: "2026-10-01",
  [PATTERNS.amount]: "999999999999.9999",
  [PATTERNS.currency]: "EUR",
};
/** For text without a specific limit: column names and ids. */
const USUAL = 100;

/** The longest value that a schema allows, in three-byte characters. */
function longest(schema: JsonSchema): unknown {
  switch (schema.type) {
    case "object":
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, value]) => [key, longest(value)]));
    case "array":
      return Array.from({ length: Number(schema.maxItems ?? 0) }, () => longest(schema.items!));
    case "string":
      if (schema.enum) return schema.enum.toSorted((a, b) => String(b).length - String(a).length)[0];
      if (schema.pattern) return SAMPLES[String(schema.pattern)] ?? `bill_${"0".repeat(32)}`;
      return "語".repeat(Number(schema.maxLength ?? USUAL));
    case "boolean":
      return false;
    default:
      return 1_000_000;
  }
}
