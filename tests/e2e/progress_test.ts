/** The MCP SDK's own clients receive progress over sockets, directly and through the front door. */
import { assertEquals, assertRejects } from "@std/assert";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
// @ts-types="@modelcontextprotocol/sdk/client"
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createFrontDoor } from "../../local/front_door/front_door.ts";
import { type Json, TOKEN } from "../functions/mcp/harness.ts";
import { startSync, SYNC } from "../functions/mcp/sync_harness.ts";

interface CallOptions {
  onprogress: (event: Json) => void;
  signal?: AbortSignal;
}

interface TestClient {
  call(options: CallOptions): Promise<Json>;
  close(): Promise<void>;
}

const INFO = { name: "Test client", version: "1.0.0" };
const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };

const CLIENTS: Record<string, (url: URL) => Promise<TestClient>> = {
  async "v1"(url) {
    const client = new Client(INFO);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    return { call: (options) => client.callTool(SYNC, undefined, options), close: () => client.close() };
  },
  "v2, older era": (url) => connectModern(url, "legacy"),
  "v2, newer era": (url) => connectModern(url, "auto"),
};

async function connectModern(url: URL, mode: "legacy" | "auto"): Promise<TestClient> {
  const client = new ModernClient(INFO, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(url, { requestInit }));
  return { call: (options) => client.callTool(SYNC, options), close: () => client.close() };
}

type Sync = Awaited<ReturnType<typeof startSync>>;

/** Serves the connector behind a front door. */
function serve({ handle }: Sync) {
  const listen = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const left = Promise.withResolvers<void>();
  const functions = Deno.serve(listen, async (request) => onCancel(await handle(request), left.resolve));
  const functionsUrl = `http://127.0.0.1:${functions.addr.port}`;
  const frontDoor = createFrontDoor({ functionsUrl });
  const site = Deno.serve(listen, (request) => frontDoor(request));
  return {
    addresses: [`http://127.0.0.1:${site.addr.port}/api/mcp`, `${functionsUrl}/mcp`].map((url) => new URL(url)),
    /** Emulates a client that has disconnected. */
    left: left.promise,
    async close() {
      await site.shutdown();
      await functions.shutdown();
    },
  };
}

/** The same response, with reports after its cancellation. */
function onCancel(response: Response, report: () => void): Response {
  if (!response.body) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason).then(report),
  });
  return new Response(body, response);
}

/** Progress on arrival, to wait for. */
function createReports() {
  const queue: Json[] = [];
  let onReport = () => {};
  return {
    onprogress(event: Json) {
      queue.push(event);
      onReport();
    },
    async next() {
      while (queue.length === 0) await new Promise<void>((resolve) => onReport = resolve);
      const { progress, total, message } = queue.shift();
      return [progress, total, message];
    },
  };
}

for (const [name, connect] of Object.entries(CLIENTS)) {
  for (const index of [0, 1]) {
    Deno.test(`${name} receives progress ${index ? "directly" : "through the front door"}`, async () => {
      const sync = await startSync({ links: 2 });
      const { addresses, close } = serve(sync);
      const client = await connect(addresses[index]!);
      const { onprogress, next } = createReports();
      const result = client.call({ onprogress });
      assertEquals(await next(), [0, 2, "0 of 2 bills done."]);
      sync.answer(1);
      assertEquals(await next(), [1, 2, "1 of 2 bills done."]);
      sync.answer(2);
      assertEquals(await next(), [2, 2, "2 of 2 bills done."]);
      assertEquals((await result).structuredContent.ok, true);
      await client.close();
      await close();
    });
  }
}

Deno.test("a newer client that cancels through the front door stops the work", async () => {
  const sync = await startSync({ links: 1, months: 3 });
  const { addresses, left, close } = serve(sync);
  const client = await CLIENTS["v2, newer era"]!(addresses[0]!);
  const { onprogress, next } = createReports();
  const cancel = new AbortController();
  const result = client.call({ onprogress, signal: cancel.signal });
  const rejected = assertRejects(() => result);
  await next();
  await sync.asked(1);
  cancel.abort();
  await rejected;
  await left;
  sync.answer(1);
  assertEquals((await sync.stored()).results.length, 1);
  assertEquals(sync.askedMonths(), 1);
  await client.close();
  await close();
});
