/** OpenTelemetry of the embedded stack, for a collector: one trace of a tool call, counts, and no secrets. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { openTelemetry } from "../../local/telemetry.ts";
import { startStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";
import { connectFor, newPerson } from "../e2e/person.ts";

// deno-lint-ignore no-explicit-any -- OTLP is inspected field by field
type Json = any;

/** All received data, by path: `/v1/traces`, `/v1/metrics`. */
const received: Record<string, Json[]> = {};
const collector = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  (received[new URL(request.url).pathname] ??= []).push(await request.json());
  return Response.json({});
});

const attributesOf = (owner: Json): Record<string, unknown> =>
  Object.fromEntries((owner.attributes ?? []).map(({ key, value }: Json) => [key, Object.values(value)[0]]));
const spans = (): Json[] =>
  (received["/v1/traces"] ?? []).flatMap(({ resourceSpans }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans).flatMap(({ spans }) => spans);
const metrics = (): Json[] =>
  (received["/v1/metrics"] ?? []).flatMap(({ resourceMetrics }) => resourceMetrics)
    .flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics);

Deno.test("without OTEL_DENO there is no telemetry", () => {
  assertEquals(openTelemetry({}), undefined);
  assertEquals(openTelemetry({ OTEL_DENO: "false" }), undefined);
});

Deno.test("a tool call is one counted trace with its route, request id and tool, and without its token", async () => {
  const stack = await startStack({
    args: ["--no-demo", "--no-schedules"],
    env: {
      OTEL_DENO: "true",
      OTEL_DENO_CONSOLE: "ignore",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "300",
      OTEL_BSP_SCHEDULE_DELAY: "100",
    },
  });
  try {
    const client = await connectFor(await newPerson(stack, "mira@example.com"), stack.mcp_url);
    assert((await client.call("list_expenses")).ok);
    const { access_token: token } = client.tokens();
    await client.client.close();

    const sql = await waitFor(() =>
      Promise.resolve(spans().find((span) => attributesOf(span)["expenses.tool"] === "list_expenses"))
    );
    assertEquals(sql.name, "call_tool");
    const request = await waitFor(() => Promise.resolve(spans().find(({ spanId }) => spanId === sql.parentSpanId)));
    assertEquals(request.name, "POST /api/mcp");
    const told = attributesOf(request);
    assertEquals([told["http.route"], told["expenses.function"]], ["/api/mcp", "mcp"]);
    assert(stack.log().includes(String(told["expenses.request_id"])));
    const parts = spans().filter(({ traceId }) => traceId === sql.traceId);
    // Deno's own spans of the request and of the fetch to the database.
    assert(parts.length >= 4, parts.map(({ name }) => name).join());

    await waitFor(() =>
      Promise.resolve(
        metrics().filter(({ name }) => name === "expenses.tool.calls").flatMap(({ sum }) => sum.dataPoints)
          .map(attributesOf).find(({ tool, outcome }) => tool === "list_expenses" && outcome === "ok"),
      )
    );
    assert(metrics().some(({ name }) => name === "expenses.request.duration"));
    const all = JSON.stringify(received);
    for (const secret of [token, stack.secret_key, stack.cron_secret, "mira@example.com"]) {
      assertFalse(all.includes(secret));
    }
  } finally {
    await stack.stop();
    await collector.shutdown();
  }
});
