/**
 * Caches expensive files and folders that depend only on the sources, in `node_modules/.cache`, under a digest of
 * their inputs.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDER = fileURLToPath(new URL("../node_modules/.cache/expense-service", import.meta.url));

/** Shortened SHA-256 of any JSON value. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

/** Content of the file `<kind>-<digest>`, created if missing. */
export async function cachedFile(name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  return await Deno.readFile(await cached(name, async (path) => await Deno.writeFile(path, await make())));
}

/** Path of the folder `<kind>-<digest>`, filled if missing. */
export async function cachedFolder(name: string, fill: (path: string) => Promise<void>): Promise<string> {
  return await cached(name, async (path) => {
    await Deno.mkdir(path);
    await fill(path);
  });
}

async function cached(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(FOLDER, name);
  if (await exists(path)) {
    // Updates its modification time, so that a concurrent run with other sources doesn't delete it.
    await Deno.utime(path, new Date(), new Date());
    return path;
  }
  await Deno.mkdir(FOLDER, { recursive: true });
  // Created next to the target and renamed, so a concurrent test process never sees a partial one.
  const partial = join(FOLDER, `partial-${crypto.randomUUID()}`);
  await make(partial);
  await removeOutdated(name);
  await Deno.rename(partial, path).catch(async (thrown) => {
    if (!await exists(path)) throw thrown;
    await Deno.remove(partial, { recursive: true });
  });
  return path;
}

async function removeOutdated(name: string): Promise<void> {
  const kind = name.split("-")[0]!;
  for await (const { name: old } of Deno.readDir(FOLDER)) {
    const isOutdated = old.startsWith(`${kind}-`) && old !== name;
    // A killed process left it behind.
    const isAbandoned = old.startsWith("partial-");
    if (!isOutdated && !isAbandoned) continue;
    const { mtime } = await Deno.stat(join(FOLDER, old)).catch(() => ({ mtime: null }));
    if (mtime === null || Date.now() - mtime.getTime() < 3_600_000) continue;
    await Deno.remove(join(FOLDER, old), { recursive: true }).catch(() => {});
  }
}

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);
