/** A small file system for a database's files, which a test can fill without affecting others. */

const FILE = "ballast";

export interface Disk {
  dir: string;
  /** Takes all remaining space. */
  fill(): Promise<{ remove(): Promise<void> }>;
  unmount(): Promise<void>;
}

/** @returns undefined where mounting is not allowed */
export async function mountDisk(size: string): Promise<Disk | undefined> {
  const dir = await Deno.makeTempDir({ prefix: "expense-disk-" });
  if (!await isDone("mount", ["-t", "tmpfs", "-o", `size=${size},mode=0755`, "tmpfs", dir])) {
    await Deno.remove(dir);
    return undefined;
  }
  return {
    dir,
    async fill() {
      const path = `${dir}/${FILE}`;
      await takeAll(path);
      return { remove: () => Deno.remove(path) };
    },
    async unmount() {
      await isDone("umount", ["-l", dir]);
      await Deno.remove(dir, { recursive: true });
    },
  };
}

async function takeAll(path: string): Promise<void> {
  const file = await Deno.open(path, { create: true, write: true });
  for (const size of [2 ** 20, 2 ** 12]) {
    const bytes = new Uint8Array(size);
    try {
      while (true) await file.write(bytes);
    } catch {
      // The disk is full for this size; a smaller one may still fit.
    }
  }
  file.close();
}

/** Runs a system command. @returns whether it succeeded. */
export const isDone = async (command: string, args: string[]): Promise<boolean> =>
  await new Deno.Command(command, { args, stdout: "null", stderr: "null" }).output().then(
    ({ success }) => success,
    () => false,
  );
