/**
 * The MCP server of one request: what it lists and how a tool call reaches us. The SDK handles both protocol eras; we
 * use its low-level server, which shows the contracts unchanged and passes no exception on to clients.
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
const LIST_CACHE = { ttlMs: 3_600_000, cacheScope: "private" } as const;

const OPTIONS: ServerOptions = {
  instructions: INSTRUCTIONS,
  // A client that is promised change notifications holds a stream open, which would tie up a worker for nothing.
  capabilities: { tools: { listChanged: false }, prompts: { listChanged: false }, resources: { listChanged: false } },
  cacheHints: {
    "server/discover": LIST_CACHE,
    "tools/list": LIST_CACHE,
    "prompts/list": LIST_CACHE,
    "resources/list": LIST_CACHE,
    "resources/templates/list": LIST_CACHE,
    "resources/read": LIST_CACHE,
  },
};

const LISTED = TOOLS.map((tool) => tool.listed) as ListToolsResult["tools"];
const BY_NAME = new Map(TOOLS.map((tool) => [tool.listed.name, tool]));

export type RunTool = (tool: Tool, input: unknown) => Promise<CallToolResult>;

/** @param run answers a call of a known tool; must not throw. */
export function createServer(run: RunTool): Server {
  const server = new Server(SERVER_INFO, OPTIONS);
  server.setRequestHandler("tools/list", () => ({ tools: LISTED }));
  server.setRequestHandler("tools/call", ({ params }: CallToolRequest) => {
    const tool = BY_NAME.get(params.name);
    if (!tool) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown tool; see tools/list.");
    }
    return run(tool, params.arguments);
  });
  server.setRequestHandler("prompts/list", () => ({ prompts: LISTED_PROMPTS }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    const prompt = getPrompt(params.name, params.arguments);
    if (prompt) return prompt;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown prompt; see prompts/list.");
  });
  server.setRequestHandler("resources/list", () => ({ resources: [CHART] }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) => {
    if (params.uri === CHART_URI) return readChart();
    throw new ResourceNotFoundError(params.uri);
  });
  return server;
}
