/** The full contract of every tool as an MCP resource: limits, patterns and the fields that `tools/list` omits. */
import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import type { Words } from "../../shared/words/words.ts";
import { TOOLS } from "./tools/mod.ts";

export const CONTRACT_URI = "contract://expenses/tools";
const MIME_TYPE = "application/json";

export const contractResource = ({ connector }: Words): Resource => ({
  uri: CONTRACT_URI,
  name: "tool-contracts",
  ...connector.contract,
  mimeType: MIME_TYPE,
});

/** JSON: the input schema (JSON Schema) of each tool by its name. */
export function readContract(): ReadResourceResult {
  const schemas = Object.fromEntries(TOOLS.map(({ listed: { name, inputSchema } }) => [name, inputSchema]));
  return { contents: [{ uri: CONTRACT_URI, mimeType: MIME_TYPE, text: JSON.stringify(schemas) }] };
}
