/**
 * `POST` of the connector: one JSON-RPC message. The SDK serves it; this decides who is served. A `tools/call` runs
 * first and is judged by what its own SQL said of the token, which makes it one round trip; everything else, and a
 * call that reached no SQL, is authenticated by a cheap one. A bad token is 401 whatever else is wrong.
 */
import { createMcpHandler, readRequestBody } from "@modelcontextprotocol/server";
import { acceptsEventStream, widenAccept } from "../../shared/connector/accept.ts";
import { errorResponse, INVALID_REQUEST, nestsDeeper, readMessage } from "../../shared/connector/json_rpc.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { describeError } from "../../shared/log.ts";
import { callerOf, type Connector, noteUse, refusal } from "./connector.ts";
import { settle } from "./settle.ts";
import { createServer, type RunTool } from "./server.ts";
import { createToolCall } from "./tool_call.ts";

const MAX_BODY_BYTES = 1_048_576;
/** Many times what any message of the protocol has; the SDK walks it by recursion. */
const MAX_DEPTH = 100;

export async function postMessage(c: AppContext, connector: Connector): Promise<Response> {
  const caller = await callerOf(c, connector);
  const body = await readRequestBody(c.req.raw, MAX_BODY_BYTES).catch((cause) => {
    throw new AppError("invalid_request", "The message did not arrive whole.", { cause });
  });
  const parsed = body.tooLarge ? undefined : parseJson(body.text);
  const message = readMessage(parsed);
  const isTooDeep = nestsDeeper(parsed, MAX_DEPTH);
  const call = createToolCall(connector, { caller, requestId: c.get("requestId") });
  const exchange = { parsed, isStream: message.method === "subscriptions/listen", run: call.run };

  if (message.method === "tools/call" && !isTooDeep) {
    const response = await serve(c, connector, exchange);
    const verdict = await call.verdict();
    noteUse(connector, verdict, caller);
    return refusal(verdict, connector, message.id) ?? response;
  }

  const verdict = await connector.store.authenticate(caller);
  noteUse(connector, verdict, caller);
  const refused = refusal(verdict, connector, message.id);
  if (refused) return refused;
  if (body.tooLarge) throw new AppError("payload_too_large", "A message may have 1 MiB at most.");
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

/** The SDK's answer, complete but for streams; what it thinks is wrong with a request it tells the client itself. */
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
  // The body was read here, under our own limit; without one the SDK says that it is missing or of the wrong type.
  const response = await handler.fetch(new Request(c.req.url, { method: "POST", headers }), { parsedBody: parsed });

  // Below 500 it is the caller's error, in the caller's words, which are not for our log.
  if (response.status >= 500) {
    log.error("mcp_failure", { request_id: c.get("requestId"), error: describeError(failure) });
  }
  return isStream ? response : await settle(response, acceptsEventStream(accept));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
