/** A fresh database on a PostgreSQL server. */
import { postgresDatabase } from "../../local/database/postgres.ts";

export interface NewDatabase {
  url: string;
  /** Whether it has everything that a Supabase server provides; otherwise it is empty. */
  isPlatform: boolean;
  /** Ends every session and removes it. */
  drop(): Promise<void>;
}

/**
 * @param serverUrl any database of the server: one marked as a template is copied (cluster.ts); any other stands for a
 * server without the platform, where the caller creates everything as its superuser.
 */
export async function newDatabase(serverUrl: string): Promise<NewDatabase> {
  const template = new URL(serverUrl).pathname.slice(1);
  const name = `test_${crypto.randomUUID().slice(0, 8)}`;
  const isPlatform = await onServer(serverUrl, async (server) => {
    const templates = await server.query("select from pg_database where datname = $1 and datistemplate", [template]);
    const isPlatform = templates.length > 0;
    await server.exec(`create database ${name}${isPlatform ? ` template ${template}` : ""}`);
    if (!isPlatform) await server.exec(`alter database ${name} set search_path = "$user", public, extensions`);
    return isPlatform;
  });
  return {
    url: withParts(serverUrl, { database: name }),
    isPlatform,
    drop: () => onServer(serverUrl, (server) => server.exec(`drop database ${name} with (force)`)),
  };
}

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
