/** A throw-away PostgreSQL server with many bills, some of them due, for measuring the daily roll. */
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { startCluster } from "../../tests/_support/cluster.ts";
import { openDatabase, type TestDatabase } from "../../tests/_support/database.ts";

/** The floor's settings, with everything in memory. Our tables and indexes need more memory. */
const SETTINGS = {
  shared_buffers: "4GB",
  work_mem: "64MB",
  maintenance_work_mem: "256MB",
  max_wal_size: "8GB",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
};

export interface Bills {
  database: TestDatabase;
  /** The database's owner, in one session. */
  admin: SqlDatabase;
  /** Runs a file of this folder for this many bills. */
  read(name: string): Promise<string>;
}

/** Stops the server even if the work fails. */
export async function withBills(bills: number, work: (opened: Bills) => Promise<void>): Promise<void> {
  const cluster = await startCluster({ settings: SETTINGS });
  try {
    const database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
    const [row] = await database.query<{ name: string }>("select current_database() as name");
    const admin = postgresDatabase(cluster.urlOf("supabase_admin", row!.name), { max: 1 });
    const read: Bills["read"] = async (name) =>
      (await Deno.readTextFile(new URL(name, import.meta.url))).replaceAll(":bills", String(bills));
    await admin.exec(await read("bills.sql"));
    await work({ database, admin, read });
    await admin.close();
    await database.close();
  } finally {
    await cluster.stop();
  }
}
