/** Starts the data service in a Worker and speaks for it. */
import type { DataService, DataServiceSettings } from "./settings.ts";
import type { Order, Report } from "./worker.ts";

/**
 * @param onDeath is told when it dies later on.
 * @throws {Error} with the message of whatever kept it from starting.
 */
export async function startDataServiceWorker(
  settings: DataServiceSettings,
  onDeath: (error: Error) => void,
): Promise<DataService> {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const tell = (order: Order) => worker.postMessage(order);
  const ready = await ask(worker, { start: settings });
  if (ready === "closed" || "failed" in ready) {
    worker.terminate();
    throw new Error(ready === "closed" ? "The data service ended while it started" : ready.failed);
  }
  worker.onerror = (event) => {
    event.preventDefault();
    onDeath(new Error(`The data service died: ${event.message}`));
  };
  return {
    ...ready.ready,
    setClockOffset: (clockOffsetMs) => tell({ clockOffsetMs }),
    async close() {
      await ask(worker, "close");
      worker.terminate();
    },
  };
}

function ask(worker: Worker, order: Order): Promise<Report> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Report>) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message));
    };
    worker.postMessage(order);
  });
}
