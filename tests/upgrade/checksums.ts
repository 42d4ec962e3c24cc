/**
 * `supabase/checksums.json`: from the first release on, the released migrations and their checksums. A database never
 * applies a migration twice, so an edit would reach only new databases.
 */
import { createHash } from "node:crypto";
import { readMigrations } from "../../local/database/migrations.ts";
import type { SchemaFile } from "../../local/sql/schema_files.ts";

export interface Checksums {
  /** The digest of supabase/schemas when the last migration was written. */
  schemas: string;
  /** By file name; none until the first release, while the baseline may still be rewritten. */
  released: Record<string, string>;
}

const fileIn = (root: URL) => new URL("supabase/checksums.json", root);

export const migrationsIn = (root: URL) => readMigrations(new URL("supabase/migrations/", root));

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

export const digestOf = (files: readonly SchemaFile[]): string => sha256(JSON.stringify(files));

export async function readChecksums(root: URL): Promise<Checksums> {
  return JSON.parse(await Deno.readTextFile(fileIn(root)));
}

export async function writeChecksums(root: URL, checksums: Checksums): Promise<void> {
  await Deno.writeTextFile(fileIn(root), `${JSON.stringify(checksums, null, 2)}\n`);
}

/**
 * Problems with released migrations: an edit, a missing file, or an earlier new one, which no existing database would
 * apply in this order.
 */
export async function brokenReleases(root: URL): Promise<string[]> {
  const { released } = await readChecksums(root);
  const files = new Map((await migrationsIn(root)).map(({ version, name, sql }) => [`${version}_${name}.sql`, sql]));
  const latest = Object.keys(released).toSorted().at(-1) ?? "";
  return [
    ...Object.entries(released).flatMap(([file, checksum]) => {
      const sql = files.get(file);
      if (sql === undefined) return [`${file} was released and is gone`];
      return sha256(sql) === checksum ? [] : [`${file} was released and is not what it was: write a further migration`];
    }),
    ...[...files.keys()].filter((file) => file < latest && !(file in released)).map((file) =>
      `${file} comes before ${latest}, which was released: give it a later time`
    ),
  ];
}
