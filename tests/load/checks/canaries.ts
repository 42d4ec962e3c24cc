/**
 * Searches for the secrets of a run, which all contain one word, and for every issued token: in the functions' logs, a
 * database dump and the server's files. Responses are searched on arrival.
 */
import { Buffer } from "node:buffer";
import { findBinaries } from "../../_support/server.ts";
import { CANARY } from "../world/secrets.ts";
import type { World } from "../world/world.ts";

/** A word in plain form, in hexadecimal, and in base64 at each offset. */
export const shapesOf = (word: string): string[] => [
  word,
  Buffer.from(word).toString("hex"),
  // The characters at both ends also depend on the neighboring bytes.
  ...[0, 1, 2].map((offset) => btoa("x".repeat(offset) + word).slice(offset === 0 ? 0 : offset + 1, -4)),
];

/** Longer than any searched text: the end of a piece is searched again with the next one. */
const OVERLAP = 256;

/** @param tokens all issued ones @returns the places where something was found */
export async function searchCanaries(world: World, tokens: readonly string[]): Promise<string[]> {
  const secrets = shapesOf(CANARY);
  const issued = new Set(tokens);
  const problems = new Set<string>();
  const search = async (place: string, bytes: ReadableStream<Uint8Array>, { isLog = false } = {}) => {
    for await (const text of pieces(bytes)) {
      for (const shape of secrets) if (text.includes(shape)) problems.add(`a secret is in ${place}, as ${shape}`);
      // Tokens are long and random, so one search for their common prefix finds them fast.
      for (const [found] of text.matchAll(/exp_[ar]t_[\w-]{43}/g)) {
        if (issued.has(found)) problems.add(`a token is in ${place}`);
      }
      if (!isLog) continue;
      for (const [found] of text.matchAll(/[\w.]+@example\.com/g)) problems.add(`the address ${found} is in ${place}`);
    }
  };
  await search("the logs", (await Deno.open(world.logs.path)).readable, { isLog: true });
  await searchDump(world, search);
  await world.admin.exec("checkpoint");
  for await (const path of filesBelow(world.cluster.folder)) {
    // Some files disappear while the server works.
    const file = await Deno.open(path).catch(() => undefined);
    if (file) await search(path, file.readable);
  }
  return [...problems];
}

/**
 * The dump of a long run exceeds the maximum length of a string. Bytes become characters one by one, because the
 * searched texts are ASCII.
 */
async function* pieces(bytes: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let before = "";
  for await (const chunk of bytes) {
    const text = before + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    yield text;
    before = text.slice(-OVERLAP);
  }
}

async function searchDump(
  { adminUrl }: World,
  search: (place: string, bytes: ReadableStream<Uint8Array>) => Promise<void>,
): Promise<void> {
  const { folder } = await findBinaries();
  const dump = new Deno.Command(`${folder}/pg_dump`, {
    args: ["--dbname", adminUrl],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  await search("a dump of the database", dump.stdout);
  if (!(await dump.status).success) throw new Error("pg_dump failed");
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    if (isFile) yield path;
  }
}
