/** Starts the data service in a Worker and represents it in the main thread. */
import type { DataService, DataServiceSettings } from "./settings.ts";
import type { Order, Report } from "./worker.ts";

const RESTART_PAUSE_MS = 500;

/**
 * A service with its own database ends together with the database. With an external server it restarts on the same
 * port, because postgres.js throws an uncatchable error when it loses a connection at the wrong moment
 * (https://github.com/porsager/postgres/issues/1208).
 * @param onDeath is called when it later ends permanently
 * @throws {Error} with the message of the failed start.
 */
export async function startDataServiceWorker(
  settings: DataServiceSettings,
  onDeath: (error: Error) => void,
): Promise<DataService> {
  let { worker, ready } = await launch(settings);
  let isClosing = false;
  let isAlive = true;
  let restarting: Promise<void> | undefined;
  let clockOffsetMs: number | undefined;
  const tell = (order: Order) => worker.postMessage(order);
  const restarted = { ...settings, port: Number(new URL(ready.url).port) };

  const restart = async () => {
    while (!isClosing) {
      const next = await launch(restarted).catch(() => undefined);
      if (next) {
        ({ worker, ready } = next);
        isAlive = true;
        if (clockOffsetMs !== undefined) tell({ clockOffsetMs });
        watch();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS));
    }
  };
  const watch = () => {
    worker.onerror = (event) => {
      event.preventDefault();
      worker.terminate();
      isAlive = false;
      if ("url" in settings.database) restarting = restart();
      else onDeath(new Error(`The data service died: ${event.message}`));
    };
  };
  watch();
  return {
    ...ready,
    setClockOffset(ms) {
      clockOffsetMs = ms;
      tell({ clockOffsetMs });
    },
    async close() {
      isClosing = true;
      await restarting;
      if (isAlive) await ask(worker, "close");
      worker.terminate();
    },
  };
}

async function launch(settings: DataServiceSettings) {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const report = await ask(worker, { start: settings }).catch((thrown: Error) => ({ failed: thrown.message }));
  if (report !== "closed" && "ready" in report) return { worker, ready: report.ready };
  worker.terminate();
  throw new Error(report === "closed" ? "The data service ended while it started" : report.failed);
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
