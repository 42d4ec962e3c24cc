/**
 * Applies the files of `supabase/migrations`, each in one transaction, recorded where the Supabase CLI records them.
 */
import type { SqlDatabase } from "./sql.ts";

export const MIGRATIONS = new URL("../../supabase/migrations/", import.meta.url);

export interface Migration {
  /** Fourteen digits; files apply in the order of their versions. */
  version: string;
  name: string;
  sql: string;
}

export async function readMigrations(folder: URL = MIGRATIONS): Promise<Migration[]> {
  const files = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return await Promise.all(
    files.toSorted().map((file) => ({ file, parts: /^(\d{14})_(.+)\.sql$/.exec(file) })).filter(({ parts }) => parts)
      .map(async ({ file, parts }) => ({
        version: parts![1]!,
        name: parts![2]!,
        sql: await Deno.readTextFile(new URL(file, folder)),
      })),
  );
}

/** A migration that failed; the message names the file and the position. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

/**
 * @returns the number of applied migrations; skips those that were applied before.
 * @throws {MigrationError} after rolling back the failing file
 */
export async function applyMigrations(database: SqlDatabase, migrations: readonly Migration[]): Promise<number> {
  await database.exec(`
    create schema if not exists supabase_migrations;
    create table if not exists supabase_migrations.schema_migrations (version text primary key, statements text[], name text)`);
  const rows = await database.query<{ version: string; statements: string[] | null }>(
    "select version, statements from supabase_migrations.schema_migrations",
  );
  const applied = new Map(rows.map(({ version, statements }) => [version, statements]));
  for (const { version, name, sql } of migrations) {
    // The Supabase CLI records single statements, so only migrations that this module applied can be compared.
    const statements = applied.get(version) ?? [];
    if (statements.length === 1 && statements[0] !== sql) {
      throw new MigrationError(
        `${version}_${name}.sql differs from the file this database was created with; restore that file, or start the version that created it`,
      );
    }
  }
  const missing = migrations.filter(({ version }) => !applied.has(version));
  for (const { version, name, sql } of missing) {
    await database.transaction(async (transaction) => {
      await transaction.exec(sql);
      await transaction.query(
        "insert into supabase_migrations.schema_migrations (version, name, statements) values ($1, $2, array[$3])",
        [version, name, sql],
      );
    }).catch((thrown) => {
      throw new MigrationError(`${version}_${name}.sql${placeOf(thrown, sql)}: ${thrown.message}`, { cause: thrown });
    });
  }
  return missing.length;
}

function placeOf(thrown: { position?: string; where?: string }, sql: string): string {
  const line = thrown.position ? ` line ${sql.slice(0, Number(thrown.position)).split("\n").length}` : "";
  return line + (thrown.where ? ` (${thrown.where})` : "");
}
