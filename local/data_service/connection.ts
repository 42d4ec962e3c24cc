/** Opens two interfaces to one database: SQL for our own code, and the connection of `@supabase/lite`. */
import type { Connection } from "@supabase/lite";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { createPostgresConnection } from "@supabase/lite/postgres";
import { Kysely, PostgresDialect } from "kysely";
import { extensions, parsers, pgliteDatabase, serializers } from "../database/pglite.ts";
import { postgresDatabase, postgresPool } from "../database/postgres.ts";
import type { SqlDatabase } from "../database/sql.ts";
import type { DataServiceSettings } from "./settings.ts";

/** The number of requests that use the database concurrently. */
const REQUESTS = 10;

export interface OpenDatabase {
  database: SqlDatabase;
  connection: Connection;
  close(): Promise<void>;
}

export async function openDatabase(target: DataServiceSettings["database"]): Promise<OpenDatabase> {
  if ("url" in target) {
    const database = postgresDatabase(target.url);
    const connection = createPostgresConnection({ url: target.url });
    // Replaces postgres.js, which then never connects (postgres.ts).
    connection.kysely = new Kysely({ dialect: new PostgresDialect({ pool: postgresPool(target.url, REQUESTS) }) });
    return {
      database,
      connection,
      close: async () => void await Promise.all([connection.kysely.destroy(), database.close()]),
    };
  }
  const connection = await createPgliteConnection({
    url: target.folder,
    pgliteOptions: { extensions, parsers, serializers },
  });
  const database = await pgliteDatabase(connection.driver);
  // The connection owns PGlite, so closing it closes both.
  return { database, connection, close: () => connection.close() };
}
