/** Brings an empty database, or one of an older version, to the schema that the functions expect. */
import { createHash } from "node:crypto";
import { applyMigrations, type Migration } from "./migrations.ts";
import type { SqlDatabase } from "./sql.ts";

/** Scripts other than migrations, by file name. */
export async function readBootstrap(): Promise<Record<string, string>> {
  const names = ["bootstrap", "auth", "cron", "net", "vault"];
  const read = (name: string) => Deno.readTextFile(new URL(`${name}.sql`, import.meta.url));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)])));
}

/** A digest of every input of `prepareDatabase`: scripts, migrations, the pinned version of lite. */
export async function preparationDigest(migrations: readonly Migration[]): Promise<string> {
  const versions = await Deno.readTextFile(new URL("../../import_map.json", import.meta.url));
  const everything = JSON.stringify([versions, await readBootstrap(), migrations]);
  return createHash("sha256").update(everything).digest("hex");
}

/**
 * @param createAuthTables creates the identity provider's tables; runs between the roles and our helpers.
 * @throws {MigrationError} naming the file that failed.
 */
export async function prepareDatabase(
  database: SqlDatabase,
  options: { createAuthTables: () => Promise<void>; migrations: readonly Migration[] },
): Promise<void> {
  if (!await isProvided(database)) {
    await bootstrap(database, options.createAuthTables).catch((thrown) => {
      throw isLackOfRights(thrown) ? new Error(`${NEEDS_SUPERUSER} PostgreSQL said: ${thrown.message}`) : thrown;
    });
  }
  await applyMigrations(database, options.migrations);
}

const NEEDS_SUPERUSER =
  "The database needs the roles and schemas that Supabase has, and only a superuser can make them: run " +
  "local/database/server.sql first (docs/self-hosting.md), or, to try it out, give --db the address of a superuser, " +
  "such as postgres://postgres@127.0.0.1/expenses.";

/**
 * Like `prepareDatabase`, for several processes that start together: one prepares the database, and the others find it
 * prepared. The helpers of schema auth remain unchanged while an instance serves, unless the version changed.
 */
export async function prepareOnce(
  database: SqlDatabase,
  options: Parameters<typeof prepareDatabase>[1] & { digest: string },
): Promise<void> {
  await database.transaction(async (session) => {
    await session.query("select pg_advisory_xact_lock(hashtext('expenses.prepare'))");
    const [known] = await session.query<{ digest: string | null }>(
      "select obj_description(to_regnamespace('supabase_migrations')::oid, 'pg_namespace') as digest",
    );
    if (known!.digest === options.digest) return;
    await prepareDatabase(database, options);
    await session.exec(`comment on schema supabase_migrations is '${options.digest}'`);
  });
}

/** SQLSTATE insufficient_privilege. */
const isLackOfRights = (thrown: unknown): thrown is Error & { code: string } =>
  thrown instanceof Error && "code" in thrown && thrown.code === "42501";

/** Whether a Supabase server created the database; its roles, schema auth and extensions then stay unchanged. */
async function isProvided(database: SqlDatabase): Promise<boolean> {
  const [row] = await database.query<{ provided: boolean }>(
    "select to_regrole('supabase_admin') is not null as provided",
  );
  return row!.provided;
}

async function bootstrap(database: SqlDatabase, createAuthTables: () => Promise<void>): Promise<void> {
  const scripts = await readBootstrap();
  await database.exec(scripts.bootstrap!);
  await createAuthTables();
  // lite swallows all errors of its schema statements.
  const [auth] = await database.query<{ made: boolean }>("select to_regclass('auth.users') is not null as made");
  if (!auth?.made) throw new Error("@supabase/lite did not create auth.users");
  await database.exec(scripts.auth!);
  for (const extension of STAND_INS) {
    if (!await useRealExtension(database, extension.name)) await database.exec(scripts[extension.file]!);
  }
}

const STAND_INS = [
  { file: "cron", name: "pg_cron" },
  { file: "net", name: "pg_net" },
  { file: "vault", name: "supabase_vault" },
];

/** Whether the real extension exists: installed, or loaded by the server for this database. */
async function useRealExtension(database: SqlDatabase, name: string): Promise<boolean> {
  const [row] = await database.query<{ installed: boolean; loaded: boolean }>(
    `select exists (select from pg_extension where extname = $1) as installed,
       -- An ordinary owner may not read the loaded libraries, and uses the stand-ins.
       case when pg_has_role('pg_read_all_settings', 'usage')
         then $1 = any (string_to_array(replace(current_setting('shared_preload_libraries'), ' ', ''), ',')) else false end
         and exists (select from pg_available_extensions where name = $1)
         and ($1 <> 'pg_cron' or current_setting('cron.database_name', true) = current_database()) as loaded`,
    [name],
  );
  if (row?.loaded && !row.installed) await database.exec(`create extension ${name}`);
  return Boolean(row?.installed || row?.loaded);
}
