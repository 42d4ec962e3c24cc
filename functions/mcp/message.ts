/**
 * `POST` of the connector: one JSON-RPC message. The SDK handles it; this module decides who is served and how much is
 * read. A `tools/call` runs first, and its own SQL also checks the token, which saves a round trip; everything else,
 * and a call that reached no SQL, is authenticated by a cheap query. A message over the unauthenticated limit is
 * authenticated before the rest is read. An invalid token is 401 whatever else is wrong. Answers are buffered, since
 * the verdict on the caller comes with them; one with progress is a stream once there is an event, and so a verdict.
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
import type { Words } from "../../shared/words/words.ts";
import { callerOf, recordLastUsed, refusalResponse } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { bufferResponse } from "./buffer_response.ts";
import { refuseOnStream, untilBegun } from "./stream_progress.ts";
import { createServer, type RunTool } from "./server.ts";
import { createToolCall } from "./tool_call.ts";
import { TOOLS } from "./tools/mod.ts";

const BYTES_OF_TOOLS = new Map<string, number>(TOOLS.map(({ listed, maxBytes }) => [listed.name, maxBytes]));
const LARGEST_BYTES = Math.max(...BYTES_OF_TOOLS.values());
/** Far deeper than any protocol message; the SDK recurses into it. */
const MAX_DEPTH = 100;

export async function postMessage(c: AppContext, connector: Connector): Promise<Response> {
  const { words } = connector;
  const caller = await callerOf(c, connector);
  const body = new BodyReader(c.req.raw);
  try {
    const isShort = await readUpTo(body, { maxBytes: MESSAGE_BYTES, words });
    const verdict = isShort ? undefined : await authenticate(connector, caller);
    const refused = verdict && refusalResponse(verdict, connector);
    if (refused) return refused;
    if (!isShort && !(await readUpTo(body, { maxBytes: LARGEST_BYTES, words }))) {
      throw tooLarge(connector, LARGEST_BYTES);
    }
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
  const { refusals } = connector.words.connector;
  const parsed = parseJson(body.text());
  const message = readMessage(parsed);
  const isCall = message.method === "tools/call";
  const maxBytes = (isCall && BYTES_OF_TOOLS.get(message.toolName ?? "")) || MESSAGE_BYTES;
  // Not checked earlier: only authenticated callers get here with a longer message.
  if (body.length > maxBytes) throw tooLarge(connector, maxBytes);

  const isTooDeep = nestsDeeper(parsed, MAX_DEPTH);
  const requestId = c.get("requestId");
  const takesStream = acceptsEventStream(c.req.header("accept"));
  const isStreamed = takesStream && message.wantsProgress;
  const call = createToolCall(connector, { caller, requestId, known, isStreamed });
  const exchange = { parsed, run: isStreamed ? refuseOnStream(call, connector, requestId) : call.run };
  if (isCall && !isTooDeep) {
    const served = await serve(c, connector, exchange);
    const stream = isStreamed ? await untilBegun(served, call) : served;
    const begun = call.begun();
    const response = begun ? stream : await bufferResponse(stream, takesStream);
    const verdict = begun ?? await call.verdict();
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
      message: refusals.tooDeep,
      id: message.id,
    });
  }
  if (Array.isArray(parsed)) {
    return errorResponse({ status: 400, code: INVALID_REQUEST, message: refusals.batch });
  }
  const response = await serve(c, connector, exchange);
  return message.method === "subscriptions/listen" ? response : await bufferResponse(response, takesStream);
}

async function authenticate(connector: Connector, caller: Bearer): Promise<Authentication> {
  const verdict = await connector.store.authenticate(caller);
  recordLastUsed(connector, verdict, caller);
  return verdict;
}

async function readUpTo(body: BodyReader, { maxBytes, words }: { maxBytes: number; words: Words }): Promise<boolean> {
  return await body.readUpTo(maxBytes).catch((cause) => {
    throw new AppError("invalid_request", words.connector.refusals.incomplete, { cause });
  });
}

const tooLarge = ({ words }: Connector, maxBytes: number) =>
  new AppError("payload_too_large", words.connector.refusals.tooLarge(maxBytes));

/** The SDK's response; it reports problems with a request to the client itself. */
async function serve(
  c: AppContext,
  { log, words }: Connector,
  { parsed, run }: { parsed: unknown; run: RunTool },
): Promise<Response> {
  const headers = new Headers(c.req.raw.headers);
  headers.set("accept", widenAccept(c.req.header("accept")));

  let failure: unknown;
  const handler = createMcpHandler(() => createServer(run, words), { onerror: (error) => failure = error });
  // The body was already read, within our limit. Without one, the SDK reports it as missing or of the wrong type.
  const response = await handler.fetch(new Request(c.req.url, { method: "POST", headers }), { parsedBody: parsed });

  // Below 500 it is the caller's error and may quote the caller, so it is not logged.
  if (response.status >= 500) {
    log.error("mcp_failure", { request_id: c.get("requestId"), error: describeError(failure) });
  }
  return response;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
