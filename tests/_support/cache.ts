/** Files that are expensive to make and depend only on the sources: kept in `node_modules/.cache` under a digest of what they depend on. */

const FOLDER = new URL("../../node_modules/.cache/expense-service/", import.meta.url);

/** SHA-256, shortened, of any JSON value and of the pinned versions of everything. */
export async function digestOf(value: unknown): Promise<string> {
  const versions = await Deno.readTextFile(new URL("../../import_map.json", import.meta.url));
  const bytes = new TextEncoder().encode(JSON.stringify([versions, value]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest.slice(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The file of this name, made when it is not there. Older ones that differ in the digest only are removed. */
export async function cachedFile(name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const file = new URL(name, FOLDER);
  const cached = await Deno.readFile(file).catch(() => undefined);
  if (cached) return cached;
  const made = await make();
  await Deno.mkdir(FOLDER, { recursive: true });
  const kind = name.split("-")[0]!;
  for await (const { name: old } of Deno.readDir(FOLDER)) {
    if (old.startsWith(`${kind}-`)) await Deno.remove(new URL(old, FOLDER)).catch(() => {});
  }
  // Renamed into place, so that a test process beside this one never reads half a file.
  const partial = new URL(`partial-${crypto.randomUUID()}`, FOLDER);
  await Deno.writeFile(partial, made);
  await Deno.rename(partial, file);
  return new Uint8Array(made);
}
