/** Interrupts a command and looks for processes that it leaves behind. */
import { waitFor } from "./wait_for.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** All descendants of a process, from /proc; Linux only. */
function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      parents.set(parent, [...parents.get(parent) ?? [], Number(name)]);
    } catch {
      // The process has ended.
    }
  }
  const below = (of: number): number[] => (parents.get(of) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

const isAlive = (pid: number) => {
  try {
    // A zombie has only an entry in the process table.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
};

/** Interrupts a command once it has this many processes. @returns its exit status and the remaining processes. */
export async function interruptOnce(
  args: string[],
  { processes, signal }: { processes: number; signal: Deno.Signal },
): Promise<{ code: number; survivors: number[] }> {
  const child = new Deno.Command(Deno.execPath(), { args, cwd: ROOT, stdin: "null", stdout: "null", stderr: "null" })
    .spawn();
  const below = await waitFor(() => {
    const found = descendantsOf(child.pid);
    return Promise.resolve(found.length >= processes ? found : undefined);
  }, { deadlineMs: 120_000, everyMs: 100 });
  // Includes processes that started between that check and the signal.
  const last = descendantsOf(child.pid);
  child.kill(signal);
  const { code } = await child.status;
  const all = new Set([...below, ...last]);
  await waitFor(() => Promise.resolve([...all].some(isAlive) ? undefined : true), { deadlineMs: 10_000, everyMs: 50 })
    .catch(() => {});
  return { code, survivors: [...all].filter(isAlive) };
}
