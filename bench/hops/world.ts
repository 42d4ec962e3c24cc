/**
 * The deployed service and its floor: each function in its own process, PostgreSQL with the migrations, and one
 * stand-in for PostgREST. Rate limits are off. Everything is discarded at the end.
 */
import { postgresDatabase } from "../../local/database/postgres.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import type { Slug } from "../../shared/routes.ts";
import { type Cluster, startCluster } from "../../tests/_support/cluster.ts";
import { openDatabase } from "../../tests/_support/database.ts";
import { environmentOf } from "../../tests/edge/questions.ts";
import { buildLargeOrganization } from "../large_organization_reads.ts";
import { start, type Started } from "../measure/processes.ts";
import { CODE_SECRET, WEBHOOK_SECRET } from "../secrets.ts";

/** Commits wait for the disk, as on a server that keeps its data. */
export const DURABLE = {
  shared_buffers: "1GB",
  max_wal_size: "4GB",
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
};

export interface World {
  cluster: Cluster;
  /** Connects as the superuser. */
  admin: SqlDatabase;
  standIn: Started;
  floor: Started;
  /** Starts a function with additional environment variables. */
  startFunction(slug: Slug): Promise<Started>;
  close(): Promise<void>;
}

const BOOT = new URL("../../tests/edge/boot.ts", import.meta.url).pathname;
const read = (name: string) => Deno.readTextFile(new URL(name, import.meta.url));

export const functionEnvironment = (supabaseUrl: string): Record<string, string> => ({
  ...environmentOf(supabaseUrl),
  OAUTH_CODE_SECRET: CODE_SECRET,
  PAYMENT_WEBHOOK_SECRET: WEBHOOK_SECRET,
  RATE_LIMITS: "off",
});

/** Runs a module that calls `Deno.serve`, on its own port. */
const startModule = (module: string, env: Record<string, string>): Promise<Started> =>
  start(Deno.execPath(), ["run", "--quiet", "-A", BOOT, module], { env });

/** @param url of the database, as authenticator @param rest the URL of the rest of the platform */
export const startStandIn = (
  url: string,
  { rest, onLog }: { rest?: string; onLog?: (text: string) => void } = {},
): Promise<Started> => {
  const script = new URL("stand_in.ts", import.meta.url).pathname;
  return start(Deno.execPath(), ["run", "--quiet", "-A", script, url, ...rest ? [rest] : []], { onLog });
};

export const functionModule = (slug: Slug): string => new URL(`../../functions/${slug}/index.ts`, import.meta.url).href;

export async function openWorld(): Promise<World> {
  const cluster = await startCluster({ settings: DURABLE });
  const database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
  const [row] = await database.query<{ name: string }>("select current_database() as name");
  const name = row!.name;
  const admin = postgresDatabase(cluster.urlOf("supabase_admin", name), { max: 2 });
  const today = new Date().toISOString().slice(0, 10);
  await buildLargeOrganization(admin, { payments: 2000, bills: 50, months: 24, today });
  await admin.exec(await read("seed.sql"));
  await admin.exec(await read("floor.sql"));
  const standIn = await startStandIn(cluster.urlOf("authenticator", name));
  const env = functionEnvironment(`http://127.0.0.1:${standIn.port}`);
  return {
    cluster,
    admin,
    standIn,
    floor: await startModule(new URL("floor.ts", import.meta.url).href, env),
    startFunction: (slug) => startModule(functionModule(slug), env),
    async close() {
      await admin.close();
      await database.close();
      await cluster.stop();
    },
  };
}
