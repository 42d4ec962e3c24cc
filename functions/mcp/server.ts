/**
 * The MCP server of one request: its lists, and the handler of tool calls. The SDK handles both protocol eras. It is
 * the SDK's low-level server, which shows the contracts unchanged and passes no exception on to clients.
 */
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type ListToolsResult,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerOptions,
} from "@modelcontextprotocol/server";
import { listedSchema } from "../../shared/connector/listed_schema.ts";
import type { Tool } from "../../shared/connector/tool.ts";
import type { Progress } from "../../shared/words/message.ts";
import type { Words } from "../../shared/words/words.ts";
import type { AskingDeps } from "./asking/call_or_ask.ts";
import { type ChartReader, chartResource, isChatGpt, readChart } from "./chart/resource.ts";
import { CHART_URI } from "./chart/uri.ts";
import { CONTRACT_URI, contractResource, readContract } from "./contract_resource.ts";
import type { EventCall, EventDeps } from "./events/call.ts";
import { registerEvents } from "./events/register.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { guideResource, readSkill, registerSkills } from "./skills/register.ts";
import { TOOLS } from "./tools/mod.ts";

/** Most lists change only with a release. Private, because a shared cache must not answer without the token. */
const LIST_CACHE = { ttlMs: 3_600_000, cacheScope: "private" } as const;

const OPTIONS: ServerOptions = {
  // A client that expects change notifications would keep a stream and a worker open for nothing.
  capabilities: {
    tools: { listChanged: false },
    prompts: { listChanged: false },
    resources: { listChanged: false },
  },
  cacheHints: {
    // These depend on the person's permission, which may change at any time.
    "server/discover": { ...LIST_CACHE, ttlMs: 60_000 },
    "tools/list": { ...LIST_CACHE, ttlMs: 60_000 },
    "prompts/list": LIST_CACHE,
    "resources/list": LIST_CACHE,
    "resources/templates/list": LIST_CACHE,
    "resources/read": LIST_CACHE,
  },
};

const BY_NAME = new Map<string, Tool>(TOOLS.map((tool) => [tool.listed.name, tool]));

/** @param client.progress sends an event at once, if the client gave a token for it. */
export type RunTool = (
  tool: Tool,
  input: unknown,
  client: { signal: AbortSignal; progress?: (event: ProgressEvent) => void },
) => Promise<CallToolResult>;

export interface ProgressEvent extends Progress {
  message?: string;
}

/** Names the arguments that contain files. Other hosts don't fill them, and their models would invent a URL. */
const FILE_ARGUMENTS = "openai/fileParams";

function withoutFiles({ inputSchema, _meta, ...listed }: Tool["listed"]): Tool["listed"] {
  const { [FILE_ARGUMENTS]: files = [], ...meta } = _meta;
  const properties = Object.entries(inputSchema.properties!).filter(([name]) => !(files as string[]).includes(name));
  return { ...listed, inputSchema: { ...inputSchema, properties: Object.fromEntries(properties) }, _meta: meta };
}

/** The tool's description explains its file argument, which has no description of its own. */
function textsOf(texts: Words["tools"][keyof Words["tools"]], takesFiles: boolean) {
  const { title, description } = texts;
  return { title, description: takesFiles && "descriptionOfFile" in texts ? texts.descriptionOfFile : description };
}

export const listTools = ({ tools }: Words, onlyReads: boolean, takesFiles: boolean) =>
  TOOLS.map(({ listed }) => takesFiles ? listed : withoutFiles(listed)).filter(({ annotations }) =>
    !onlyReads || annotations.readOnlyHint
  ).map((listed) => ({
    ...listed,
    inputSchema: listedSchema(listed.inputSchema),
    ...textsOf(tools[listed.name], takesFiles),
    // Clients of the revision 2025-03-26 and the review of Claude's directory read this field.
    annotations: { title: tools[listed.name].title, ...listed.annotations },
  })) as ListToolsResult["tools"];

/**
 * Clients of the newer era declare it in each request. Clients of the older era can't be asked, because there are no
 * sessions.
 */
function showsForms(envelope: Record<string, unknown> = {}): boolean {
  if (!(PROTOCOL_VERSION_META_KEY in envelope)) return false;
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
  const { form, url } = declared?.elicitation ?? { url: {} };
  return form !== undefined || url === undefined;
}

export interface ServerOf {
  /** Handles a call of a known tool; its exceptions reach the client. */
  run: RunTool;
  words: Words;
  /** Whether only the reading tools are listed, and no events. */
  onlyReads: boolean;
  identity: Implementation;
  reader: ChartReader;
  events: { deps: EventDeps; call: EventCall };
  asking: AskingDeps;
}

export function createServer({ run, words, onlyReads, identity, reader, events, asking }: ServerOf): Server {
  const { instructions, readOnly, refusals } = words.connector;
  const server = new Server(identity, {
    ...OPTIONS,
    instructions: onlyReads ? `${instructions}\n\n${readOnly}` : instructions,
  });
  server.setRequestHandler("tools/list", () => ({ tools: listTools(words, onlyReads, isChatGpt(reader)) }));
  server.setRequestHandler("tools/call", async ({ params }: CallToolRequest, { mcpReq }) => {
    const { notify, signal } = mcpReq;
    const tool = BY_NAME.get(params.name);
    if (!tool) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, refusals.unknownTool);
    }
    const progressToken = params._meta?.progressToken;
    const progress = (event: ProgressEvent) => {
      // Fails after the client disconnected, which `signal` reports.
      notify({ method: "notifications/progress", params: { progressToken, ...event } }).catch(() => {});
    };
    const call = (args: unknown) => run(tool, args, { signal, ...(progressToken !== undefined && { progress }) });
    if (!showsForms(mcpReq.envelope)) return await call(params.arguments);
    return await (await import("./asking/call_or_ask.ts")).callOrAsk(asking, words, {
      tool: params.name,
      arguments: params.arguments,
      state: mcpReq.requestState(),
      responses: mcpReq.inputResponses,
      run: call,
    });
  });
  server.setRequestHandler("prompts/list", async () => ({ prompts: await listPrompts(words) }));
  server.setRequestHandler("prompts/get", async ({ params }) => {
    const prompt = await getPrompt(words, params);
    if (prompt) return prompt;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, refusals.unknownPrompt);
  });
  server.setRequestHandler(
    "resources/list",
    () => ({ resources: [chartResource(words, reader), contractResource(words), guideResource(words)] }),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", async ({ params }) => {
    if (params.uri === CHART_URI) return readChart(reader);
    if (params.uri === CONTRACT_URI) return readContract();
    const skill = await readSkill(words, params.uri);
    if (skill) return skill;
    throw new ResourceNotFoundError(params.uri);
  });
  registerSkills(server, words, LIST_CACHE);
  if (!onlyReads) registerEvents(server, events.deps, events.call);
  return server;
}
