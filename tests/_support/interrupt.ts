/** Ends everything that a run has started when it is interrupted, before the process exits. */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const endings = new Set<() => Promise<unknown>>();
let isInterrupted = false;

const interrupt = () => {
  if (isInterrupted) return;
  isInterrupted = true;
  void Promise.allSettled([...endings].map((end) => end())).finally(() => Deno.exit(130));
};

/** @param end sends its signals before it waits for anything. @returns what forgets it, once it has ended. */
export function whenInterrupted(end: () => Promise<unknown>): () => void {
  if (endings.size === 0) SIGNALS.forEach((signal) => Deno.addSignalListener(signal, interrupt));
  endings.add(end);
  return () => {
    const isLast = endings.delete(end) && endings.size === 0;
    // While it ends, another signal must not cut it short.
    if (isLast && !isInterrupted) SIGNALS.forEach((signal) => Deno.removeSignalListener(signal, interrupt));
  };
}

/** Never resolves in an interrupted run, which must not start anything more. */
export const unlessInterrupted = (): Promise<void> => isInterrupted ? new Promise(() => {}) : Promise.resolve();

/** Ends a process at once; also one that has ended already. */
export async function killChild(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has ended already.
  }
  await child.status;
}
