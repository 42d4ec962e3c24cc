/** The Worker's side of `client.ts`: starts the data service on the first message, then handles requests. */
/// <reference lib="deno.worker" />
import { createLog, describeError } from "../../shared/log.ts";
import { startDataService } from "./service.ts";
import type { DataService, DataServiceSettings } from "./settings.ts";

export type Order = { start: DataServiceSettings } | { clockOffsetMs: number } | "close";
export type Report = { ready: Pick<DataService, "preparedAs" | "url" | "demo"> } | { failed: string } | "closed";

const log = createLog((line) => void Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`)), {
  function: "data service",
});

// lite prints every failed statement with all its properties, including row data; log the error without them.
// deno-lint-ignore no-console -- silences lite
console.error = (...values: unknown[]) => {
  const error = values.find((value) => value instanceof Error);
  if (error) log.error("failure", { error: describeError(error) });
};

// An unhandled rejection from lite or from a failed mail must not end the database.
self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  log.error("failure", { error: describeError(event.reason) });
});

let service: DataService | undefined;
const report = (message: Report) => self.postMessage(message);

self.onmessage = async ({ data: order }: MessageEvent<Order>) => {
  try {
    if (order === "close") {
      await service?.close();
      report("closed");
    } else if ("start" in order) {
      service = await startDataService(order.start, log);
      const { preparedAs, url, demo } = service;
      report({ ready: { preparedAs, url, demo } });
      // Creating a database leaves a second WebAssembly memory, which is otherwise collected late or never.
      (globalThis as { gc?: () => void }).gc?.();
    } else {
      service?.setClockOffset(order.clockOffsetMs);
    }
  } catch (thrown) {
    report({ failed: thrown instanceof Error ? thrown.message : String(thrown) });
  }
};
