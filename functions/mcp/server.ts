/**
 * The MCP server of one request: what it lists and how a tool call reaches us. Both eras are the SDK's business; this
 * speaks through its low-level server, which shows the contract as it is and lets nothing thrown reach a client.
 */
import {
  type CallToolRequest,
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import type { Tool } from "../../shared/connector/tool.ts";
import { CHART, readChart } from "./chart/resource.ts";
import { CHART_URI } from "./chart/uri.ts";
import { getPrompt, LISTED_PROMPTS } from "./prompts.ts";
import { INSTRUCTIONS, SERVER_INFO } from "./server_info.ts";
import { TOOLS } from "./tools/mod.ts";

/** Lists change only with a release; private, because a shared cache must not answer without the token. */
const LISTS_LAST = { ttlMs: 3_600_000, cacheScope: "private" } as const;

const OPTIONS: ServerOptions = {
  instructions: INSTRUCTIONS,
  // A client that is promised changes holds a stream open for them, which would pin a worker for nothing.
  capabilities: { tools: { listChanged: false }, prompts: { listChanged: false }, resources: { listChanged: false } },
  cacheHints: {
    "server/discover": LISTS_LAST,
    "tools/list": LISTS_LAST,
    "prompts/list": LISTS_LAST,
    "resources/list": LISTS_LAST,
    "resources/templates/list": LISTS_LAST,
    "resources/read": LISTS_LAST,
  },
};

const LISTED = TOOLS.map((tool) => tool.listed) as ListToolsResult["tools"];
const BY_NAME = new Map(TOOLS.map((tool) => [tool.listed.name, tool]));

export type RunTool = (tool: Tool, input: unknown) => Promise<CallToolResult>;

/** @param run answers a call of a known tool; it must not throw. */
export function createServer(run: RunTool): Server {
  const server = new Server(SERVER_INFO, OPTIONS);
  server.setRequestHandler("tools/list", () => ({ tools: LISTED }));
  server.setRequestHandler("tools/call", ({ params }: CallToolRequest) => {
    const tool = BY_NAME.get(params.name);
    if (!tool) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no tool of this name; see tools/list.");
    }
    return run(tool, params.arguments);
  });
  server.setRequestHandler("prompts/list", () => ({ prompts: LISTED_PROMPTS }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    const prompt = getPrompt(params.name, params.arguments);
    if (prompt) return prompt;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no prompt of this name; see prompts/list.");
  });
  server.setRequestHandler("resources/list", () => ({ resources: [CHART] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) => {
    if (params.uri === CHART_URI) return readChart();
    throw new ResourceNotFoundError(params.uri);
  });
  return server;
}
