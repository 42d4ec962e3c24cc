/** Writes the next migration, and the baseline while nothing is released. */
import type { Migration } from "../../local/database/migrations.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { baselineOf, readSchemaFiles } from "../../local/sql/schema_files.ts";
import type { Cluster } from "../_support/cluster.ts";
import { digestOf, migrationsIn, readChecksums, writeChecksums } from "./checksums.ts";
import { fromSchemaFiles, migrated } from "./databases.ts";
import { differenceOf } from "./difference.ts";

/** The two places that contain the schema version. */
const VERSIONS = [
  ["supabase/schemas/schema_version.sql", /(?<='schema', )\d+/],
  ["shared/schema_version.ts", /(?<=SCHEMA_VERSION = )\d+/],
] as const;

const BASELINE = "20261122000000_baseline.sql";

/** A migration gives up instead of blocking people's work, and `db push` can be repeated. */
const TIMEOUTS = "set local lock_timeout = '10s';\nset local statement_timeout = '60s';\n";

/** @throws {Error} after the first release */
export async function writeBaseline(root: URL): Promise<string> {
  const checksums = await readChecksums(root);
  if (Object.keys(checksums.released).length > 0) {
    throw new Error("The baseline is released. Write a migration instead: deno task db:migration -- <name>");
  }
  await setVersion(root, 1);
  const folder = new URL("supabase/migrations/", root);
  for (const { version, name } of await migrationsIn(root)) {
    await Deno.remove(new URL(`${version}_${name}.sql`, folder));
  }
  const files = await readSchemaFiles(root);
  await Deno.writeTextFile(new URL(BASELINE, folder), baselineOf(files));
  await writeChecksums(root, { ...checksums, schemas: digestOf(files) });
  return `supabase/migrations/${BASELINE} matches supabase/schemas.`;
}

/**
 * @returns the message to print: the file, and the statements for a person's review
 * @throws {Error} for an invalid name, and when the statements do not lead to the expected schema.
 */
export async function writeMigration(
  cluster: Cluster,
  { root, name, now }: { root: URL; name: string; now: Date },
): Promise<string[]> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${name} is not a valid name, such as add_url_to_expenses`);
  const before = await migrationsIn(root);
  const version = now.toISOString().replace(/\D/g, "").slice(0, 14);
  if (version <= before.at(-1)!.version) throw new Error(`${version} is not after ${before.at(-1)!.version}`);
  const checksums = await readChecksums(root);
  const from = await migrated(cluster, before);
  let files = await readSchemaFiles(root);
  const unchanged = await differenceOf({ from, to: await fromSchemaFiles(cluster, files) });
  if (unchanged.lines.length === 0 && unchanged.rows.length === 0) {
    await writeChecksums(root, { ...checksums, schemas: digestOf(files) });
    return ["Nothing changed: the migrations match supabase/schemas."];
  }

  await setVersion(root, before.length + 1);
  files = await readSchemaFiles(root);
  const to = await fromSchemaFiles(cluster, files);
  const inserted = await insertedColumns({ from, to });
  if (inserted.length > 0) {
    throw new Error(`New columns go last: move ${inserted.join(", ")} down`);
  }
  const { sql, warnings, rows } = await differenceOf({ from, to });
  const migration: Migration = { version, name, sql: `${TIMEOUTS}${sql}\n` };
  const leftAfter = async () => await differenceOf({ from: await migrated(cluster, [...before, migration]), to });
  let left = await leftAfter();
  if (left.lines.length > 0) {
    // A new function's default rights can be revoked only after its creation.
    migration.sql += `${left.sql}\n`;
    left = await leftAfter();
  }
  if (left.lines.length > 0) {
    throw new Error(`These statements do not lead to the schema:\n${migration.sql}\n${left.lines.join("\n")}`);
  }
  const path = `supabase/migrations/${version}_${name}.sql`;
  await Deno.writeTextFile(new URL(path, root), migration.sql);
  await writeChecksums(root, { ...checksums, schemas: digestOf(files) });
  return [
    `${path} leads to schema ${before.length + 1}. Read it before you keep it.`,
    ...warnings.map((warning) => `Review this statement: it ${warning}`),
    ...rows.map((row) => `Add by hand, because no statement covers rows: it ${row}`),
  ];
}

/**
 * A new column precedes an old one. Rows are passed as a whole, so upgraded and new databases need the same column
 * order.
 */
async function insertedColumns(urls: { from: string; to: string }): Promise<string[]> {
  const [from, to] = await Promise.all([columnsIn(urls.from), columnsIn(urls.to)]);
  return [...to].flatMap(([table, columns]) => {
    const old = from.get(table) ?? [];
    const last = columns.findLastIndex((column) => old.includes(column));
    return columns.slice(0, Math.max(last, 0)).filter((column) => !old.includes(column)).map((column) =>
      `${table}.${column}`
    );
  });
}

async function columnsIn(url: string): Promise<Map<string, string[]>> {
  const database = postgresDatabase(url, { max: 1 });
  const rows = await database.query<{ name: string; columns: string[] }>(
    `select format('%I.%I', n.nspname, c.relname) as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_attribute as a
     join pg_class as c on c.oid = a.attrelid
     join pg_namespace as n on n.oid = c.relnamespace
     where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'c') and n.nspname !~ '^(pg_|information_schema)'
     group by n.nspname, c.relname`,
  ).finally(() => database.close());
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

async function setVersion(root: URL, version: number): Promise<void> {
  for (const [path, number] of VERSIONS) {
    const url = new URL(path, root);
    const text = await Deno.readTextFile(url);
    if (!number.test(text)) throw new Error(`${path} names no version`);
    await Deno.writeTextFile(url, text.replace(number, String(version)));
  }
}
