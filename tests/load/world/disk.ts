/** A small file system for PostgreSQL's data, which can be filled without harm to anything else. */

const SIZE = "900m";

export interface Disk {
  dir: string;
  unmount(): Promise<void>;
}

/** @returns undefined where mounting is not allowed. */
export async function mountDisk(): Promise<Disk | undefined> {
  const dir = await Deno.makeTempDir({ prefix: "expense-disk-" });
  if (!await isDone("mount", ["-t", "tmpfs", "-o", `size=${SIZE},mode=0755`, "tmpfs", dir])) {
    await Deno.remove(dir);
    return undefined;
  }
  return {
    dir,
    async unmount() {
      await isDone("umount", [dir]);
      await Deno.remove(dir);
    },
  };
}

/** Runs a command of the system. @returns whether it succeeded. */
export const isDone = async (command: string, args: string[]): Promise<boolean> =>
  await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output().then(
    ({ success }) => success,
    () => false,
  );
