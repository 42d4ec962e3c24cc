/**
 * OpenTelemetry of the embedded stack, on Deno's built-in support. Deno exports telemetry and creates spans for
 * requests and fetches; this adds route, tool, SQL function and their counts. Without `OTEL_DENO=true` it is off and
 * has no cost.
 */
import type { Database } from "../shared/db/client.ts";
import type { Deps } from "../shared/deps.ts";
import type { Log, LogFields } from "../shared/log.ts";
import { findRoute, localPath, REQUEST_ID_HEADER, type Slug } from "../shared/routes.ts";
import type { FunctionsHandler } from "./functions.ts";

export interface Telemetry {
  /** A function's dependencies, instrumented. */
  watch(deps: Deps): Deps;
  /** A span around a function's handling of a request. */
  trace(functions: FunctionsHandler): FunctionsHandler;
}

/** The part that we use of https://opentelemetry.io/docs/specs/otel/, for which Deno has no types. */
type Attributes = Record<string, string | number>;
interface Span {
  setAttributes(attributes: Attributes): void;
  setStatus(status: { code: number; message?: string }): void;
  end(): void;
}
interface Tracer {
  startActiveSpan<Result>(
    name: string,
    options: { kind: number; attributes: Attributes },
    work: (span: Span) => Result,
  ): Result;
}
interface Meter {
  createCounter(name: string, options: { description: string }): { add(count: number, attributes: Attributes): void };
  createHistogram(name: string, options: { description: string; unit: string }): {
    record(value: number, attributes: Attributes): void;
  };
}

const KIND = { internal: 0, client: 2 };
const ERROR = 2;
const SCOPE = "expenses";

export function openTelemetry(env: Record<string, string>): Telemetry | undefined {
  if (env.OTEL_DENO !== "true" && env.OTEL_DENO !== "1") return undefined;
  const { tracerProvider, meterProvider } = Deno.telemetry as unknown as {
    tracerProvider: { getTracer(name: string): Tracer };
    meterProvider: { getMeter(name: string): Meter };
  };
  const tracer = tracerProvider.getTracer(SCOPE);
  const meter = meterProvider.getMeter(SCOPE);
  return {
    watch: (deps) => ({ ...deps, log: countLog(meter, deps.log), database: traceDatabase(tracer, deps.database) }),
    trace: (functions) => (request) => {
      const slug = new URL(request.url).pathname.split("/")[1] as Slug;
      const route = routeOf(localPath(slug, request.url));
      const attributes = { "http.request.method": request.method, "http.route": route, "expenses.function": slug };
      return inSpan(tracer, `${request.method} ${route}`, { kind: KIND.internal, attributes }, async (span) => {
        const response = await functions(request);
        span.setAttributes({
          "http.response.status_code": response.status,
          "expenses.request_id": response.headers.get(REQUEST_ID_HEADER) ?? "",
        });
        if (response.status >= 500) span.setStatus({ code: ERROR });
        return response;
      });
    },
  };
}

/** The route, never the path, because paths contain ids and secrets. */
const routeOf = (path: string) => findRoute(path)?.path ?? "unknown";

function traceDatabase(tracer: Tracer, database: Database): Database {
  return {
    call: (name, args, options) => {
      const attributes = {
        "db.system.name": "postgresql",
        "db.stored_procedure.name": name,
        ...(typeof args.tool === "string" && { "expenses.tool": args.tool }),
      };
      return inSpan(tracer, name, { kind: KIND.client, attributes }, () => database.call(name, args, options));
    },
  };
}

/** Metrics are derived from log lines, so they can't differ. */
function countLog(meter: Meter, log: Log): Log {
  const durations = meter.createHistogram("expenses.request.duration", {
    description: "How long functions take for a request",
    unit: "ms",
  });
  const tools = meter.createCounter("expenses.tool.calls", { description: "Tool calls by outcome" });
  const failures = meter.createCounter("expenses.failures", { description: "Failures by event and code" });
  const count = (event: string, { route = "", status = 0, duration_ms = 0, tool = "", outcome = "" }: LogFields) => {
    if (event !== "request") return;
    durations.record(duration_ms, { route: routeOf(route), status });
    if (tool) tools.add(1, { tool, outcome });
  };
  return {
    info(event, fields = {}) {
      count(event, fields);
      log.info(event, fields);
    },
    error(event, fields = {}) {
      failures.add(1, { event, code: fields.code ?? "" });
      log.error(event, fields);
    },
  };
}

function inSpan<Result>(
  tracer: Tracer,
  name: string,
  options: { kind: number; attributes: Attributes },
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (thrown) {
      span.setStatus({ code: ERROR, message: thrown instanceof Error ? thrown.name : "" });
      throw thrown;
    } finally {
      span.end();
    }
  });
}
