/**
 * `POST` of the connector: one JSON-RPC message. The SDK handles it; this module decides who is served and how much is
 * read. A `tools/call` runs first, and its own SQL also checks the token, which saves a round trip; everything else,
 * and a call that reached no SQL, is authenticated by a cheap query. A message over the unauthenticated limit is
 * authenticated before the rest is read. An invalid token is 401 whatever else is wrong.
 */
import { createMcpHandler } from "@modelcontextprotocol/server";
import { acceptsEventStream, widenAccept } from "../../shared/connector/accept.ts";
import { errorResponse, INVALID_REQUEST, nestsDeeper, readMessage } from "../../shared/connector/json_rpc.ts";
import { MESSAGE_BYTES } from "../../shared/connector/tool.ts";
import type { Authentication, Bearer } from "../../shared/db/connector_store.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { BodyReader } from "../../shared/http/body_reader.ts";
import { describeError } from "../../shared/log.ts";
import { callerOf, recordLastUsed, refusalResponse } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { bufferResponse } from "./buffer_response.ts";
import { createServer, type RunTool } from "./server.ts";
import { createToolCall } from "./tool_call.ts";
import { TOOLS } from "./tools/mod.ts";

const BYTES_OF_TOOLS = new Map(TOOLS.map(({ listed, maxBytes }) => [listed.name, maxBytes]));
const LARGEST_BYTES = Math.max(...BYTES_OF_TOOLS.values());
/** Far deeper than any protocol message; the SDK recurses into it. */
const MAX_DEPTH = 100;

export async function postMessage(c: AppContext, connector: Connector): Promise<Response> {
  const caller = await callerOf(c, connector);
  const body = new BodyReader(c.req.raw);
  try {
    const isShort = await readUpTo(body, MESSAGE_BYTES);
    const verdict = isShort ? undefined : await authenticate(connector, caller);
    const refused = verdict && refusalResponse(verdict, connector);
    if (refused) return refused;
    if (!isShort && !(await readUpTo(body, LARGEST_BYTES))) throw tooLarge(LARGEST_BYTES);
    return await answer(c, connector, { caller, body, verdict });
  } finally {
    await body.close();
  }
}

/** @param received.verdict on the caller, if already known. */
async function answer(
  c: AppContext,
  connector: Connector,
  { caller, body, verdict: known }: { caller: Bearer; body: BodyReader; verdict: Authentication | undefined },
): Promise<Response> {
  const parsed = parseJson(body.text());
  const message = readMessage(parsed);
  const isCall = message.method === "tools/call";
  const maxBytes = (isCall && BYTES_OF_TOOLS.get(message.toolName ?? "")) || MESSAGE_BYTES;
  // Not checked earlier: only authenticated callers get here with a longer message.
  if (body.length > maxBytes) throw tooLarge(maxBytes);

  const isTooDeep = nestsDeeper(parsed, MAX_DEPTH);
  const call = createToolCall(connector, { caller, requestId: c.get("requestId"), known });
  const exchange = { parsed, isStream: message.method === "subscriptions/listen", run: call.run };
  if (isCall && !isTooDeep) {
    const response = await serve(c, connector, exchange);
    const verdict = await call.verdict();
    if (!known) recordLastUsed(connector, verdict, caller);
    return refusalResponse(verdict, connector, message.id) ?? response;
  }

  const verdict = known ?? await authenticate(connector, caller);
  const refused = refusalResponse(verdict, connector, message.id);
  if (refused) return refused;
  if (isTooDeep) {
    return errorResponse({
      status: 400,
      code: INVALID_REQUEST,
      message: "The message is nested too deeply.",
      id: message.id,
    });
  }
  if (Array.isArray(parsed)) {
    return errorResponse({ status: 400, code: INVALID_REQUEST, message: "Send one message at a time, not a batch." });
  }
  return await serve(c, connector, exchange);
}

async function authenticate(connector: Connector, caller: Bearer): Promise<Authentication> {
  const verdict = await connector.store.authenticate(caller);
  recordLastUsed(connector, verdict, caller);
  return verdict;
}

async function readUpTo(body: BodyReader, maxBytes: number): Promise<boolean> {
  return await body.readUpTo(maxBytes).catch((cause) => {
    throw new AppError("invalid_request", "The message did not arrive whole.", { cause });
  });
}

const tooLarge = (maxBytes: number) =>
  new AppError("payload_too_large", `This message must not exceed ${maxBytes} bytes.`);

/** The SDK's response, buffered except for streams; the SDK reports problems with a request to the client itself. */
async function serve(
  c: AppContext,
  { log }: Connector,
  { parsed, isStream, run }: { parsed: unknown; isStream: boolean; run: RunTool },
): Promise<Response> {
  const accept = c.req.header("accept");
  const headers = new Headers(c.req.raw.headers);
  headers.set("accept", widenAccept(accept));

  let failure: unknown;
  const handler = createMcpHandler(() => createServer(run), { onerror: (error) => failure = error });
  // The body was already read, within our limit. Without one, the SDK reports it as missing or of the wrong type.
  const response = await handler.fetch(new Request(c.req.url, { method: "POST", headers }), { parsedBody: parsed });

  // Below 500 it is the caller's error and may quote the caller, so it is not logged.
  if (response.status >= 500) {
    log.error("mcp_failure", { request_id: c.get("requestId"), error: describeError(failure) });
  }
  return isStream ? response : await bufferResponse(response, acceptsEventStream(accept));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
