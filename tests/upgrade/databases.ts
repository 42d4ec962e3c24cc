/** Databases on a throw-away server: from the migrations, from the schema files, or from a dump. */
import { applyMigrations, type Migration } from "../../local/database/migrations.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SchemaFile } from "../../local/sql/schema_files.ts";
import type { Cluster } from "../_support/cluster.ts";
import { newDatabase } from "../_support/new_database.ts";
import { findBinaries } from "../_support/server.ts";

/** @returns the URL of a new database, for the platform's `postgres`. */
export async function migrated(cluster: Cluster, migrations: readonly Migration[]): Promise<string> {
  const url = await empty(cluster);
  const database = postgresDatabase(url, { max: 1 });
  await applyMigrations(database, migrations).finally(() => database.close());
  return url;
}

/** @throws {Error} naming the file that the database rejects */
export async function fromSchemaFiles(cluster: Cluster, files: readonly SchemaFile[]): Promise<string> {
  const url = await empty(cluster);
  const database = postgresDatabase(url, { max: 1 });
  try {
    for (const { path, sql } of files) {
      await database.exec(sql).catch((thrown) => {
        throw new Error(`${path}: ${thrown.message}`, { cause: thrown });
      });
    }
  } finally {
    await database.close();
  }
  return url;
}

const empty = async (cluster: Cluster) => (await newDatabase(cluster.urlOf("postgres", "supabase_closed"))).url;

/** A whole database as SQL, as in a backup. */
export async function dump(cluster: Cluster, url: string): Promise<string> {
  const { folder } = await findBinaries();
  const { success, stdout, stderr } = await new Deno.Command(`${folder}/pg_dump`, {
    args: ["--no-sync", `--dbname=${cluster.urlOf("supabase_admin", nameIn(url))}`],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

/** @returns the URL of a new database with the dump's content. */
export async function restored(cluster: Cluster, sql: string): Promise<string> {
  const { folder } = await findBinaries();
  const name = `restored_${crypto.randomUUID().slice(0, 8)}`;
  const server = postgresDatabase(cluster.urlOf("supabase_admin", "postgres"), { max: 1 });
  await server.exec(`create database ${name} owner postgres template template0`).finally(() => server.close());
  const child = new Deno.Command(`${folder}/psql`, {
    args: ["-X", "-q", "-v", "ON_ERROR_STOP=1", `--dbname=${cluster.urlOf("supabase_admin", name)}`],
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  // A newer pg_dump than the server's wrote it. Schema public exists already.
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(sql.replace(/^CREATE SCHEMA public;$/m, ""))).catch(() => {});
  await writer.close().catch(() => {});
  const { success, stderr } = await child.output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return cluster.urlOf("postgres", name);
}

const nameIn = (url: string) => new URL(url).pathname.slice(1);
