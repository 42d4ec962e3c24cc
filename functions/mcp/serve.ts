/**
 * The SDK's response to one message whose body was already read, within our limit. The SDK handles both protocol eras
 * and reports problems with a request to the client itself. A message of the older era that needs no stream is answered
 * as JSON, instead of a stream that has to be read again.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { widenAccept } from "../../shared/connector/accept.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { describeError } from "../../shared/log.ts";
import type { Connector } from "./connector.ts";
import { createServer, type RunTool } from "./server.ts";

export interface Exchange {
  /** The body; undefined when it is not JSON, which the SDK reports as missing or of the wrong type. */
  parsed: unknown;
  run: RunTool;
  /** Whether the answer may become a stream. */
  isStreamed: boolean;
}

export async function serve(
  c: AppContext,
  { log, words }: Connector,
  { parsed, run, isStreamed }: Exchange,
): Promise<Response> {
  const headers = new Headers(c.req.raw.headers);
  headers.set("accept", widenAccept(c.req.header("accept")));
  const request = new Request(c.req.url, { method: "POST", headers });
  if (parsed !== undefined && !isStreamed && await isLegacyRequest(request, parsed)) {
    return await serveOnce(request, { parsed, run, words });
  }
  let failure: unknown;
  const handler = createMcpHandler(() => createServer(run, words), { onerror: (error) => failure = error });
  const response = await handler.fetch(request, { parsedBody: parsed });
  // Below 500 it is the caller's error and may quote the caller, so it is not logged.
  if (response.status >= 500) {
    log.error("mcp_failure", { request_id: c.get("requestId"), error: describeError(failure) });
  }
  return response;
}

/** A server and a transport for this message alone; there are no sessions. */
async function serveOnce(
  request: Request,
  { parsed, run, words }: Pick<Exchange, "parsed" | "run"> & Pick<Connector, "words">,
): Promise<Response> {
  const server = createServer(run, words);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  try {
    await server.connect(transport);
    return await transport.handleRequest(request, { parsedBody: parsed });
  } finally {
    await server.close();
  }
}
