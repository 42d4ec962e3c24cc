/** A database of a test's own on a PostgreSQL server. */
import { postgresDatabase } from "../../local/database/postgres.ts";

export interface NewDatabase {
  url: string;
  /** Whether it has everything that a Supabase server provides; else it is empty. */
  isPlatform: boolean;
  /** Ends every session and removes it. */
  drop(): Promise<void>;
}

/**
 * @param serverUrl names a server by one of its databases: one that is marked as a template is copied (cluster.ts); any
 * other stands for a server without a platform, where the caller makes everything as its superuser.
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

/** The address of another database, or of another role, on the same server. */
export function withParts(url: string, { database, role }: { database?: string; role?: string }): string {
  const other = new URL(url);
  if (database) other.pathname = database;
  if (role) other.username = role;
  return other.href;
}

// Never in the template itself: what somebody is connected to cannot be copied.
async function onServer<Result>(
  url: string,
  work: (server: ReturnType<typeof postgresDatabase>) => Promise<Result>,
): Promise<Result> {
  const server = postgresDatabase(withParts(url, { database: "postgres" }), { max: 1 });
  return await work(server).finally(() => server.close());
}
