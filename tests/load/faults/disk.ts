/**
 * A full disk under PostgreSQL: a separate small file system that is filled to the last block, or, where mounting is
 * not allowed, a limit on the size of the server's files.
 */
import { type Fault, pause } from "./fault.ts";
import { isDone } from "../world/disk.ts";
import type { World } from "../world/world.ts";

const LASTS_MS = 3_000;

export const DISK: Fault[] = [{
  name: "the disk is full",
  async act({ world }) {
    const ballast = await world.disk?.fill();
    if (!ballast) await limitFiles(world);
    await pause(LASTS_MS);
    await ballast?.remove();
    // The server stops when it has no space for its log. The operator frees space and starts it again.
    await world.cluster.restart("crash");
  },
}];

/** The server's files can't grow until it restarts, so it can't write new log segments. */
async function limitFiles({ cluster }: World): Promise<void> {
  const pids = [cluster.pid()];
  for (const { name } of Deno.readDirSync("/proc")) {
    const status = /^\d+$/.test(name) && await Deno.readTextFile(`/proc/${name}/status`).catch(() => "");
    if (status && status.includes(`\nPPid:\t${cluster.pid()}\n`)) pids.push(Number(name));
  }
  for (const pid of pids) await isDone("prlimit", ["--pid", String(pid), "--fsize=8192"]);
}
