/**
 * `POST` of the connector: one JSON-RPC message. The SDK handles it; this module decides whether to serve the caller
 * and how much to read. A `tools/call` runs first, because its SQL also checks the token, which saves a round trip. A
 * cheap query authenticates other messages, and calls that reached no SQL. A message over the unauthenticated limit is
 * authenticated before the rest is read. An invalid token always gets a 401, whatever else is wrong. The connector
 * buffers answers, because the verdict on the caller arrives with them. An answer with progress becomes a stream at
 * its first event, when the verdict is known.
 */
import { acceptsEventStream } from "../../shared/connector/accept.ts";
import { errorResponse, INVALID_REQUEST, nestsDeeper, readMessage } from "../../shared/connector/json_rpc.ts";
import { MESSAGE_BYTES } from "../../shared/connector/tool.ts";
import type { Authentication, Bearer } from "../../shared/db/connector_store.ts";
import { AppError } from "../../shared/errors.ts";
import { type AppContext, note } from "../../shared/http/app.ts";
import type { BodyReader } from "../../shared/http/body_reader.ts";
import { bodyOf } from "../../shared/http/read_body.ts";
import { parseJson } from "../../shared/parse_json.ts";
import { authenticate, recordLastUsed, refusalResponse } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { bufferResponse } from "./buffer_response.ts";
import { serve } from "./serve.ts";
import { refuseOnStream, untilBegun } from "./stream_progress.ts";
import { createToolCall } from "./tool_call.ts";
import { TOOLS } from "./tools/mod.ts";

const BYTES_OF_TOOLS = new Map<string, number>(TOOLS.map(({ listed, maxBytes }) => [listed.name, maxBytes]));
const LARGEST_BYTES = Math.max(...BYTES_OF_TOOLS.values());
/** Far deeper than any protocol message; limited because the SDK recurses into it. */
const MAX_DEPTH = 100;

/** @param caller with a token that is not yet verified. */
export async function postMessage(c: AppContext, connector: Connector, caller: Bearer): Promise<Response> {
  const body = bodyOf(c);
  const isShort = await body.readUpTo(MESSAGE_BYTES);
  const verdict = isShort ? undefined : await authenticate(connector, caller);
  const refused = verdict && refusalResponse(verdict, connector);
  if (refused) return refused;
  if (!isShort && !(await body.readUpTo(LARGEST_BYTES))) throw tooLarge(connector, LARGEST_BYTES);
  return await answer(c, connector, { caller, body, verdict });
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
  // Not checked earlier: only authenticated callers reach this line with a longer message.
  if (body.length > maxBytes) throw tooLarge(connector, maxBytes);

  const isTooDeep = nestsDeeper(parsed, MAX_DEPTH);
  const requestId = c.get("requestId");
  const isStreamed = isCall && message.wantsProgress && acceptsEventStream(c.req.header("accept"));
  const call = createToolCall(connector, {
    caller,
    requestId,
    note: (fields) => note(c, fields),
    known,
    isStreamed,
  });
  const run = isStreamed ? refuseOnStream(call, connector, requestId) : call.run;
  const exchange = { method: message.method, parsed, run, isStreamed, tokenHash: caller.tokenHash };
  if (isCall && !isTooDeep) {
    const served = await serve(c, connector, exchange);
    const stream = isStreamed ? await untilBegun(served, call) : served;
    const begun = call.begun();
    const response = begun ? stream : await bufferResponse(stream);
    const verdict = begun ?? await call.verdict();
    if (!known) recordLastUsed(connector, verdict, caller);
    return refusalResponse(verdict, connector, message.id) ?? response;
  }

  const verdict = known ?? await authenticate(connector, caller);
  const refused = refusalResponse(verdict, connector, message.id);
  if (refused) return refused;
  if (verdict.outcome === "ok") note(c, { organization_id: verdict.organization.id });
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
  const onlyReads = verdict.outcome === "ok" && verdict.barred_by !== undefined;
  const response = await serve(c, connector, { ...exchange, onlyReads });
  return message.method === "subscriptions/listen" ? response : await bufferResponse(response);
}

const tooLarge = ({ words }: Connector, maxBytes: number) =>
  new AppError("payload_too_large", words.connector.refusals.tooLarge(maxBytes));
