/** Servers that benchmarks and load tests start, and the processor time that they use. Linux only. */
import { killChild, unlessInterrupted, whenInterrupted } from "../../tests/_support/interrupt.ts";

export interface Started {
  port: number;
  pid: number;
  /** Processor time so far, in milliseconds. */
  cpuMs(): number;
  stop(): Promise<void>;
  /** Kills the process immediately, like a platform that stops an instance. */
  kill(): Promise<void>;
}

const running = new Set<Started>();

/**
 * Starts a program that writes its port as the first line of standard output.
 * @param options.onLog receives its standard error.
 * @throws with its standard error if it exits before that.
 */
export async function start(
  command: string,
  args: string[],
  { env = {}, cwd, onLog }: { env?: Record<string, string>; cwd?: string; onLog?: (text: string) => void } = {},
): Promise<Started> {
  await unlessInterrupted();
  const child = new Deno.Command(command, {
    args,
    cwd,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const forget = whenInterrupted(() => killChild(child));
  void child.status.then(forget);
  let errors = "";
  const drained = (async () => {
    // Reads and drops its log, like a platform's collector.
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      errors = (errors + text).slice(-4000);
      onLog?.(text);
    }
  })();
  const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await output.read();
  const port = Number(value?.split("\n")[0]);
  if (!port) {
    await drained;
    await unlessInterrupted();
    throw new Error(`${[command, ...args].join(" ")} did not start:\n${errors}`);
  }
  const end = async (signal: Deno.Signal) => {
    running.delete(started);
    try {
      child.kill(signal);
    } catch {
      // The process has already exited.
    }
    await output.cancel();
    await child.status;
    await drained;
  };
  const started: Started = {
    port,
    pid: child.pid,
    cpuMs: () => cpuMs(child.pid),
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
  };
  running.add(started);
  return started;
}

/** Kills the processes that are still running. */
export const stopAll = async (): Promise<void> => void await Promise.all([...running].map((one) => one.stop()));

/** Processor time of all threads of a process, from the scheduler, in nanoseconds (proc(5), schedstat). */
export function cpuMs(pid: number): number {
  let total = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
    try {
      total += Number(Deno.readTextFileSync(`/proc/${pid}/task/${name}/schedstat`).split(" ")[0]);
    } catch {
      // The thread has ended.
    }
  }
  return total / 1e6;
}
