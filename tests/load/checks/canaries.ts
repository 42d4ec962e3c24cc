/**
 * What must be nowhere: the secrets of a run, which all contain one word, and every token that was issued. Searched in
 * the functions' logs, in a dump of the database and in the server's files; answers are searched as they come.
 */
import { Buffer } from "node:buffer";
import { findBinaries } from "../../_support/server.ts";
import { CANARY } from "../world/secrets.ts";
import type { World } from "../world/world.ts";

/** A word as it is, in hexadecimal, and in base64 at each offset. */
export const shapesOf = (word: string): string[] => [
  word,
  Buffer.from(word).toString("hex"),
  // The letters at both ends also depend on the neighbouring bytes.
  ...[0, 1, 2].map((offset) => btoa("x".repeat(offset) + word).slice(offset === 0 ? 0 : offset + 1, -4)),
];

/** @param tokens all that were issued. @returns where something was found. */
export async function searchCanaries(world: World, tokens: readonly string[]): Promise<string[]> {
  const secrets = shapesOf(CANARY);
  const places: [name: string, text: string][] = [
    ["the logs", await Deno.readTextFile(world.logs.path)],
    ["a dump of the database", await dump(world)],
  ];
  const problems: string[] = [];
  for (const [name, text] of places) {
    for (const shape of secrets) if (text.includes(shape)) problems.push(`a secret is in ${name}, as ${shape}`);
    // Tokens are long and random: one search for what all of them begin with finds them fast.
    for (const [found] of text.matchAll(/exp_[ar]t_[\w-]{20,}/g)) {
      if (tokens.includes(found)) problems.push(`a token is in ${name}`);
    }
  }
  const [, logs] = places[0]!;
  for (const [found] of logs.matchAll(/[\w.]+@example\.com/g)) problems.push(`the address ${found} is in the logs`);
  await world.admin.exec("checkpoint");
  for await (const path of filesBelow(world.cluster.folder)) {
    const text = new TextDecoder("latin1").decode(await Deno.readFile(path).catch(() => new Uint8Array()));
    if (secrets.some((shape) => text.includes(shape))) problems.push(`a secret is in ${path}`);
    for (const [found] of text.matchAll(/exp_[ar]t_[\w-]{43}/g)) {
      if (tokens.includes(found)) problems.push(`a token is in ${path}`);
    }
  }
  return [...new Set(problems)];
}

async function dump({ databaseUrl }: World): Promise<string> {
  const { folder } = await findBinaries();
  const { success, stdout, stderr } = await new Deno.Command(`${folder}/pg_dump`, {
    args: ["--dbname", databaseUrl.replace("//postgres@", "//supabase_admin@")],
  }).output();
  if (!success) throw new Error(`pg_dump failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    if (isFile) yield path;
  }
}
