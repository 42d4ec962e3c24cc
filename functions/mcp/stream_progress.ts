/**
 * Streams the progress of a call if the client asked for it. The first report, which follows a successful database
 * call, turns the answer into an event stream. Until then a refusal can still be an HTTP status; afterwards it is the
 * stream's last event.
 */
import { ProtocolError } from "@modelcontextprotocol/server";
import { toAppError } from "../../shared/errors.ts";
import { describeError } from "../../shared/log.ts";
import { refusalResponse } from "./authentication.ts";
import type { Connector } from "./connector.ts";
import { failureResponse } from "./failure_response.ts";
import type { RunTool } from "./server.ts";
import type { ToolCall } from "./tool_call.ts";

/** Waits for the first progress, or for the whole response, whichever comes first. */
export async function untilBegun(response: Response, { begun }: ToolCall): Promise<Response> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const reader = response.body!.getReader();
  const chunks: Uint8Array[] = [];
  let isWhole = false;
  while (!isWhole && !begun()) {
    const { done, value } = await reader.read();
    if (value) chunks.push(value);
    isWhole = done;
  }
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => chunks.forEach((chunk) => controller.enqueue(chunk)),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(body, response);
}

/** Runs a call. After its first progress report, a refusal throws the response's error. */
export function refuseOnStream(
  { run, begun, verdict }: ToolCall,
  connector: Connector,
  requestId: string,
): RunTool {
  return async (...call) => {
    const result = await run(...call);
    if (!begun()) return result;
    const refused = await verdict().then((verdict) => refusalResponse(verdict, connector)).catch((thrown) => {
      const error = toAppError(thrown);
      if (error.status >= 500) {
        connector.log.error("failure", { request_id: requestId, code: error.code, error: describeError(error) });
      }
      return failureResponse(error, requestId);
    });
    if (!refused) return result;
    const { error } = await refused.json();
    throw new ProtocolError(error.code, error.message, error.data);
  };
}
