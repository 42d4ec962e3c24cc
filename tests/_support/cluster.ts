/**
 * A throw-away PostgreSQL server from the installed binaries, set up like a Supabase project: its superuser is
 * supabase_admin, and `postgres`, which is not a superuser, runs the migrations. It refuses a server that it did not
 * start. Source: the checklist of roles, schemas, grants and settings of the platform's own image
 * (tests/_support/platform).
 */
import { createPostgresConnection } from "@supabase/lite/postgres";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { readBootstrap } from "../../local/database/prepare.ts";
import { createLiteApp } from "../../local/lite/app.ts";
import { findBinaries, type Server, startServer } from "./server.ts";

/**
 * Databases to copy: the API roles get grants on objects that `postgres` creates in `public` (exposed) or not
 * (closed).
 */
export const TEMPLATES = ["supabase_exposed", "supabase_closed"] as const;
export type Template = (typeof TEMPLATES)[number];

export interface Cluster {
  /** `postgres://…` for a role and a database; every role may log in from this machine without a password. */
  urlOf(role: string, database: string): string;
  /** Whether pg_cron itself runs the jobs of database `postgres`; other databases load the stand-in. */
  hasCron: boolean;
  /** Server version, for example 15.20. */
  version: string;
  /** The server's folder, including its log. */
  folder: string;
  /** Process id of the current postmaster. */
  pid(): number;
  /** Stops the server and starts it on the same data; see server.ts. */
  restart: Server["restart"];
  /** The end of the server's log. */
  log(): string;
  /** Ends every session and removes the data. Also runs on SIGINT, SIGTERM and SIGHUP. */
  stop(): Promise<void>;
}

/**
 * Ready in about two seconds: with the databases `TEMPLATES` to copy, and a bootstrapped database `postgres`.
 * @param options.settings of the server, for example for a measurement; they override the test defaults.
 * @param options.libraries to preload in addition to pg_cron.
 * @param options.dir the folder of its data, such as a small file system
 */
export async function startCluster(
  { settings = {}, libraries = [], dir }: {
    settings?: Record<string, string>;
    libraries?: string[];
    dir?: string | undefined;
  } = {},
): Promise<Cluster> {
  const binaries = await findBinaries();
  const hasCron = await exists(`${binaries.libraries}/pg_cron.so`);
  const server = await startServer(binaries, {
    superuser: "supabase_admin",
    ...(dir && { dir }),
    settings: {
      wal_level: "logical",
      max_connections: "200",
      shared_preload_libraries: [...(hasCron ? ["pg_cron"] : []), ...libraries].join(),
      ...(hasCron && { "cron.database_name": "postgres" }),
      ...settings,
    },
  });
  const urlOf = (role: string, database: string) => `postgres://${role}@127.0.0.1:${server.port}/${database}`;
  try {
    const admin = postgresDatabase(urlOf("supabase_admin", "postgres"), { max: 1 });
    await admin.exec(await readScript("roles"));
    await admin.exec(`create database ${TEMPLATES[0]} owner postgres`);
    await bootstrap(urlOf("supabase_admin", "postgres"), hasCron);
    await bootstrap(urlOf("supabase_admin", TEMPLATES[0]), false);
    await admin.exec(`create database ${TEMPLATES[1]} owner postgres template ${TEMPLATES[0]}`);
    const closed = postgresDatabase(urlOf("supabase_admin", TEMPLATES[1]), { max: 1 });
    await closed.exec(await readScript("closed"));
    await closed.close();
    for (const template of TEMPLATES) await admin.exec(`alter database ${template} is_template true`);
    await admin.close();
  } catch (thrown) {
    await server.stop();
    throw thrown;
  }
  return {
    urlOf,
    hasCron,
    version: binaries.version,
    folder: server.folder,
    pid: server.pid,
    log: server.log,
    restart: server.restart,
    stop: server.stop,
  };
}

// Used by the tests and the CLI's `db lint`, which report missing extensions themselves.
const TEST_EXTENSIONS = ["pgtap", "plpgsql_check"];

async function bootstrap(url: string, hasCron: boolean): Promise<void> {
  const scripts = await readBootstrap();
  const database = postgresDatabase(url, { max: 1 });
  await database.exec(scripts.bootstrap!);
  await database.exec(await readScript("database"));
  await createAuthTables(url);
  await database.exec(scripts.auth!);
  await database.exec(await readScript("auth"));
  await database.exec(hasCron ? "create extension pg_cron" : scripts.cron!);
  await database.exec(scripts.net!);
  await database.exec(scripts.vault!);
  await database.exec(await readScript("extensions"));
  const available = await database.query<{ name: string }>(
    "select name from pg_available_extensions where name = any ($1)",
    [TEST_EXTENSIONS],
  );
  for (const { name } of available) await database.exec(`create extension ${name} with schema extensions`);
  await database.close();
}

/** Creates the identity provider's tables as the embedded one does. */
async function createAuthTables(url: string): Promise<void> {
  const connection = createPostgresConnection({ url, postgresOptions: { onnotice: () => {} } });
  const settings = { siteUrl: "http://127.0.0.1", jwtSecret: "unused-unused-unused-unused-unused-unused" };
  const app = createLiteApp(connection, { ...settings, publishableKey: "sb_publishable_x", secretKey: "sb_secret_x" });
  await app.ensureSystemSchema();
  await connection.close();
}

const readScript = (name: string) => Deno.readTextFile(new URL(`platform/${name}.sql`, import.meta.url));

const exists = (path: string) => Deno.stat(path).then(() => true, () => false);
