/** A fresh database on a PostgreSQL server, empty or with every migration applied. */
import type { Migration } from "../../local/database/migrations.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { preparationDigest, prepareDatabase } from "../../local/database/prepare.ts";

export interface NewDatabase {
  url: string;
  /** Whether it has all parts of a Supabase server; otherwise it is empty. */
  isPlatform: boolean;
  /** Ends every session and removes the database. */
  drop(): Promise<void>;
}

/**
 * @param serverUrl any database of the server. A template is copied (cluster.ts). Any other URL means a server without
 * the platform, whose superuser creates all parts
 */
export async function newDatabase(serverUrl: string): Promise<NewDatabase> {
  const template = databaseIn(serverUrl);
  const name = `test_${crypto.randomUUID().slice(0, 8)}`;
  const isPlatform = await hasPlatform(serverUrl);
  await onServer(serverUrl, async (server) => {
    await server.exec(`create database ${name}${isPlatform ? ` template ${template}` : ""}`);
    if (!isPlatform) await server.exec(`alter database ${name} set search_path = "$user", public, extensions`);
  });
  return {
    url: withParts(serverUrl, { database: name }),
    isPlatform,
    drop: () => onServer(serverUrl, (server) => server.exec(`drop database ${name} with (force)`)),
  };
}

/** Whether the URL names a template with the parts of a Supabase server (cluster.ts). */
export async function hasPlatform(serverUrl: string): Promise<boolean> {
  const templates = await onServer(
    serverUrl,
    (server) => server.query("select from pg_database where datname = $1 and datistemplate", [databaseIn(serverUrl)]),
  );
  return templates.length > 0;
}

/**
 * A copy of a database that was migrated once on this server; copying takes a quarter of the time.
 * @param serverUrl of a template with the parts of a Supabase server.
 */
export async function newMigratedDatabase(serverUrl: string, migrations: readonly Migration[]): Promise<NewDatabase> {
  const template = databaseIn(serverUrl);
  const migrated = `${template}_${(await preparationDigest(migrations)).slice(0, 8)}`;
  await onServer(serverUrl, async (server) => {
    // The first of the parallel test files creates it; the others wait. The lock ends with the session.
    await server.query("select pg_advisory_lock(hashtext($1))", [migrated]);
    if ((await server.query("select from pg_database where datname = $1", [migrated])).length > 0) return;
    const { url } = await newDatabase(serverUrl);
    const database = postgresDatabase(url, { max: 1 });
    const createAuthTables = () => Promise.reject(new Error(`${template} has no platform`));
    await prepareDatabase(database, { createAuthTables, migrations }).finally(() => database.close());
    await server.exec(`alter database ${databaseIn(url)} rename to ${migrated}`);
    await server.exec(`alter database ${migrated} is_template true`);
  });
  return await newDatabase(withParts(serverUrl, { database: migrated }));
}

const databaseIn = (url: string) => new URL(url).pathname.slice(1);

/** URL of another database, or another role, on the same server. */
export function withParts(url: string, { database, role }: { database?: string; role?: string }): string {
  const other = new URL(url);
  if (database) other.pathname = database;
  if (role) other.username = role;
  return other.href;
}

// Never connects to the template itself: a database in use cannot be copied.
async function onServer<Result>(
  url: string,
  work: (server: ReturnType<typeof postgresDatabase>) => Promise<Result>,
): Promise<Result> {
  const server = postgresDatabase(withParts(url, { database: "postgres" }), { max: 1 });
  return await work(server).finally(() => server.close());
}
