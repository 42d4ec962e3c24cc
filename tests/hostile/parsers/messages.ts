/** Parsers of messages to the connector: the arguments of each tool, and input from strangers. */
import { plainError } from "../../../functions/mcp/plain_error.ts";
import { getPrompt } from "../../../functions/mcp/prompts.ts";
import { bufferResponse } from "../../../functions/mcp/buffer_response.ts";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { formHint } from "../../../shared/connector/form_hint.ts";
import { nestsDeeper, readMessage } from "../../../shared/connector/json_rpc.ts";
import { type JsonSchema, PATTERNS } from "../../../shared/connector/schema.ts";
import { MESSAGE_BYTES, type Tool } from "../../../shared/connector/tool.ts";
import { cleanStrings } from "../../../shared/connector/typed_text.ts";
import { startConnector } from "../../functions/mcp/harness.ts";
import { en } from "../../../shared/words/en/mod.ts";
import type { Run } from "../cost.ts";
import { all, type Parser, pieces } from "./limits.ts";

/** Each argument in turn is the text, or is built from it. */
function argumentsOf({ listed: { inputSchema } }: Tool, value: (schema: JsonSchema) => unknown) {
  return Object.fromEntries(Object.entries(inputSchema.properties ?? {}).map(([key, schema]) => [key, value(schema)]));
}

const ITEM_MEMBERS = 12;

function ofTool(tool: Tool): Parser[] {
  const { listed: { name, inputSchema }, maxBytes: limit } = tool;
  const count = Object.keys(inputSchema.properties ?? {}).length || 1;
  // A part for every member, including members of items.
  const share = (text: string) => text.slice(0, Math.ceil(text.length / count / ITEM_MEMBERS));
  const asItem = (schema: JsonSchema, text: string): unknown =>
    schema.type === "object"
      ? Object.fromEntries(Object.keys(schema.properties ?? {}).map((key) => [key, text]))
      : text;
  const forms: Record<string, Run> = {
    "text": (text) => tool.parse(argumentsOf(tool, (schema) => asItem(schema, share(text)))),
    "lists": (text) =>
      tool.parse(argumentsOf(tool, ({ items }) => pieces(share(text), 8).map((piece) => asItem(items ?? {}, piece)))),
    "unknown members": (text) =>
      tool.parse(Object.fromEntries(pieces(text, 16).map((piece, i) => [piece.slice(8) + i, 0]))),
    "members of members": (text) =>
      tool.parse(argumentsOf(tool, () => Object.fromEntries(pieces(share(text), 8).map((piece, i) => [piece + i, i])))),
  };
  // The same compiler checks them all, so two represent the others. Building tens of thousands of members takes longer
  // than refusing them, so most tools get them only at the maximum length.
  const tried: Record<string, string[]> = { log_expenses: ["lists"], delete_records: Object.keys(forms) };
  return Object.entries(forms).filter(([form]) => form === "text" || tried[name]?.includes(form))
    .map(([form, run]) => ({ name: `${name} with ${form}`, limit, run }));
}

// Inputs that a stranger can make us parse.
const unauthenticatedConnector = startConnector({
  authenticate_bearer: () => ({ outcome: "invalid_token" }),
  call_tool: () => ({ outcome: "invalid_token" }),
});
export const message = (params: unknown, method = "tools/call") =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
export const post = async (body: string) => await (await unauthenticatedConnector.post(body)).text();
const messages: Record<string, Run> = {
  "a stranger's message": post,
  "a stranger's method": (text) => post(message({}, text)),
  "a stranger's tool": (text) => post(message({ name: text })),
  "a stranger's file": (text) => post(message({ name: "import_expenses", arguments: { csv: text } })),
  "a stranger's expenses": (text) =>
    post(
      message({ name: "log_expenses", arguments: { items: pieces(text, 20).map((name) => ({ name, amount: name })) } }),
    ),
  "readMessage(), nestsDeeper()": (text) => {
    const value = JSON.parse(text);
    return [readMessage(value), nestsDeeper(value, 100)];
  },
  "cleanStrings()": (text) => cleanStrings(pieces(text, 10)),
  "formHint()": (text) =>
    [PATTERNS.amount, PATTERNS.date, "^(exp|bill)_[0-9a-z]{8,32}$"].map((pattern) => formHint({ pattern }, text)),
  "plainError()": (text) => [plainError(text), plainError(`{"error":{"code":-32602,"message":"${text}[`)],
  "bufferResponse()": (text) =>
    bufferResponse(new Response(`data: ${text}`, { headers: { "content-type": "text/event-stream" } })),
  "getPrompt()": (text) => getPrompt(en, { name: "month_close", arguments: { month: text } }),
};

export const MESSAGE_PARSERS: readonly Parser[] = [...TOOLS.flatMap(ofTool), ...all(messages, MESSAGE_BYTES)];
