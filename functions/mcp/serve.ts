/**
 * The SDK's response to one message, whose body was already read within our limit. The SDK handles both protocol eras
 * and reports problems with a request to the client itself. A message of the older era that needs no stream gets JSON,
 * because buffering a stream would mean reading it again.
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
import { createServer, type RunTool, type ServerOf } from "./server.ts";
import { introduction, INTRODUCTIONS, serverInfo } from "./server_info.ts";

export interface Exchange {
  /** The method of the message, if it has one. */
  method: unknown;
  /** The body; undefined when it is not JSON, which the SDK reports as missing or of the wrong type. */
  parsed: unknown;
  run: RunTool;
  /** Whether the caller may only read. The tool's SQL decides about calls. */
  onlyReads?: boolean;
  /** Whether the answer may become a stream. */
  isStreamed: boolean;
  tokenHash: string;
}

export async function serve(
  c: AppContext,
  { log, words, config, address, events, store, clock }: Connector,
  { method, parsed, run, onlyReads = false, isStreamed, tokenHash }: Exchange,
): Promise<Response> {
  const headers = new Headers(c.req.raw.headers);
  headers.set("accept", widenAccept(c.req.header("accept")));
  const request = new Request(c.req.url, { method: "POST", headers });
  const server: ServerOf = {
    run,
    words,
    events: { deps: events, call: { tokenHash } },
    asking: {
      secrets: config.codeSecrets,
      clock,
      async grantId() {
        const verdict = await store.authenticate({ tokenHash, limits: undefined });
        return verdict.outcome === "ok" ? verdict.grant_id : undefined;
      },
    },
    onlyReads,
    identity: INTRODUCTIONS.includes(method) ? introduction(words, config.siteUrl) : serverInfo(words),
    reader: { siteUrl: config.siteUrl, resource: address.resource, userAgent: c.req.header("user-agent") },
  };
  if (parsed !== undefined && !isStreamed && await isLegacyRequest(request, parsed)) {
    return await serveOnce(request, { parsed, ...server });
  }
  let failure: unknown;
  const handler = createMcpHandler(() => createServer(server), { onerror: (error) => failure = error });
  const response = await handler.fetch(request, { parsedBody: parsed });
  // An error below 500 is the caller's fault and may contain the caller's data, so it is not logged.
  if (response.status >= 500) {
    log.error("mcp_failure", { request_id: c.get("requestId"), error: describeError(failure) });
  }
  return response;
}

/** A server and a transport for this message alone; there are no sessions. */
async function serveOnce(
  request: Request,
  { parsed, ...of }: ServerOf & Pick<Exchange, "parsed">,
): Promise<Response> {
  const server = createServer(of);
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
