/** Ends all processes of an interrupted run before its own process exits. */

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const endings = new Set<() => Promise<unknown>>();
let isInterrupted = false;

const interrupt = () => {
  if (isInterrupted) return;
  isInterrupted = true;
  void Promise.allSettled([...endings].map((end) => end())).finally(() => Deno.exit(130));
};

/** @param end sends its signals before waiting. @returns a function to call once the run has ended. */
export function whenInterrupted(end: () => Promise<unknown>): () => void {
  if (endings.size === 0) SIGNALS.forEach((signal) => Deno.addSignalListener(signal, interrupt));
  endings.add(end);
  return () => {
    const isLast = endings.delete(end) && endings.size === 0;
    // A second signal must not stop the cleanup.
    if (isLast && !isInterrupted) SIGNALS.forEach((signal) => Deno.removeSignalListener(signal, interrupt));
  };
}

/** Never resolves in an interrupted run, so the run starts no further work. */
export const unlessInterrupted = (): Promise<void> => isInterrupted ? new Promise(() => {}) : Promise.resolve();

/** Kills a process, which may have ended already. */
export async function killChild(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } catch {
    // The process has already ended.
  }
  await child.status;
}
