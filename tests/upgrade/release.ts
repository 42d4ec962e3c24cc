/** Freezes a release: the migrations by checksum, and a dump of their database. */
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { Cluster } from "../_support/cluster.ts";
import { migrationsIn, readChecksums, sha256, writeChecksums } from "./checksums.ts";
import { dump, migrated } from "./databases.ts";

/**
 * Dumps of releases, `<schema version>.sql.gz`. The next version upgrades from them, and runs on them during a
 * deployment.
 */
export const RELEASES = "tests/upgrade/releases/";

/** @returns the message to print */
export async function release(cluster: Cluster, root: URL): Promise<string[]> {
  const migrations = await migrationsIn(root);
  const released = Object.fromEntries(
    migrations.map(({ version, name, sql }) => [`${version}_${name}.sql`, sha256(sql)]),
  );
  const path = `${RELEASES}${migrations.length}.sql.gz`;
  await Deno.mkdir(new URL(RELEASES, root), { recursive: true });
  await Deno.writeFile(new URL(path, root), await compress(await dumpWithBooks(cluster, root)));
  await writeChecksums(root, { ...await readChecksums(root), released });
  return [`${Object.keys(released).length} migrations are frozen.`, `${path} is the database of this release.`];
}

/** A database of the current version with the demo's books, as in a backup. */
export async function dumpWithBooks(cluster: Cluster, root: URL): Promise<string> {
  const url = await migrated(cluster, await migrationsIn(root));
  const database = postgresDatabase(url, { max: 1 });
  await database.exec(await Deno.readTextFile(new URL("supabase/seed.sql", root))).finally(() => database.close());
  return await dump(cluster, url);
}

export const compress = (text: string) => through(new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")));

export async function decompress(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const plain = await through(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  return new TextDecoder().decode(plain);
}

const through = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) =>
  new Uint8Array(await new Response(stream).arrayBuffer());
