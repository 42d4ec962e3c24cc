/**
 * The whole service under load: PostgreSQL with the migrations, the stand-in for PostgREST, the identity provider,
 * each function in its own process, and third-party servers. Rate limits are off, because the load comes from one IP
 * address.
 */
import { start, type Started, stopAll } from "../../../bench/measure/processes.ts";
import { DURABLE, startStandIn } from "../../../bench/hops/world.ts";
import { postgresDatabase } from "../../../local/database/postgres.ts";
import type { SqlDatabase } from "../../../local/database/sql.ts";
import { readMigrations } from "../../../local/database/migrations.ts";
import { type Cluster, startCluster } from "../../_support/cluster.ts";
import { newMigratedDatabase, withParts } from "../../_support/new_database.ts";
import { environmentOf } from "../../edge/questions.ts";
import { type Disk, mountDisk } from "./disk.ts";
import { type Functions, startFunctions } from "./functions.ts";
import { type Gateway, openGateway } from "./gateway.ts";
import { type Logs, openLogs } from "./logs.ts";
import { openOutside, type Outside } from "./outside.ts";
import { plantInDatabase } from "./plants.ts";
import { newSecret, newSecrets, PLATFORM_KEYS, type Secrets } from "./secrets.ts";
import { type Site, startSite } from "./site.ts";
import { OUT_OF_REACH, startOneServer, startPreparedServer } from "./one_server.ts";
import { openWire, type Wire } from "./wire.ts";

/** A few minutes write months of books, so statistics must keep up. */
const GROWING = { autovacuum_naptime: "5s" };

export interface World {
  /** A folder for the run: logs and dumps. */
  folder: string;
  cluster: Cluster;
  /** As the superuser. */
  admin: SqlDatabase;
  databaseUrl: string;
  /** The same for the superuser. */
  adminUrl: string;
  /** Whether one process serves everything (docs/self-hosting.md). */
  isOneServer: boolean;
  secrets: Secrets;
  outside: Outside;
  site: Site;
  functions: Functions;
  /** For PostgREST; not on one server, whose process has its own. */
  standIn: Started | undefined;
  logs: Logs;
  /** Between the stand-in and PostgreSQL, and between the functions and the stand-in; only with `faults`. */
  wire: Wire | undefined;
  gateway: Gateway | undefined;
  /** A small file system under PostgreSQL; only with `faults`, where mounting is allowed. */
  disk: Disk | undefined;
  close(): Promise<void>;
}

export interface WorldOptions {
  isOneServer?: boolean;
  /** Puts proxies between the parts that can cut, delay and alter traffic. */
  faults?: boolean;
  /** A defect to plant (plants.ts). */
  plant?: string | undefined;
  /** Additional variables of the functions. */
  env?: Record<string, string>;
}

export async function openWorld(
  { isOneServer = false, faults = false, plant, env = {} }: WorldOptions = {},
): Promise<World> {
  const folder = await Deno.makeTempDir({ prefix: "expense-load-" });
  const logs = openLogs(`${folder}/functions.log`);
  const disk = faults ? await mountDisk("900m") : undefined;
  const server = {
    settings: { ...DURABLE, ...GROWING, shared_buffers: "256MB", ...(faults && { max_wal_size: "128MB" }) },
    dir: disk?.dir,
  };
  const cluster = await (isOneServer ? startPreparedServer : startCluster)(server);
  const url = isOneServer
    ? cluster.urlOf("expenses", "expenses")
    : (await newMigratedDatabase(cluster.urlOf("postgres", "supabase_exposed"), await readMigrations())).url;
  const adminUrl = withParts(url, { role: isOneServer ? "postgres" : "supabase_admin" });
  const admin = postgresDatabase(adminUrl, { max: 3 });
  const secrets = newSecrets();
  // A single server's vault is readable in its database.
  if (isOneServer) secrets.cron = [crypto.randomUUID()];
  const frontDoorSecret = newSecret("door");
  const outside = await openOutside();
  const site = startSite({ inbox: outside.inbox, secret: frontDoorSecret, isOneServer });

  const wire = faults ? await openWire(Number(new URL(url).port)) : undefined;
  const serviceUrl = new URL(isOneServer ? url : withParts(url, { role: "authenticator" }));
  if (wire) serviceUrl.port = String(wire.port);
  const common = () => ({
    NEXT_PUBLIC_SITE_URL: site.site_url,
    OAUTH_CODE_SECRET: secrets.code.join(),
    CRON_SECRET: secrets.cron.join(),
    PAYMENT_WEBHOOK_SECRET: secrets.webhook.join(),
    CREDENTIALS_KEY: secrets.credentials.join(),
    MAIL_FROM: "Expenses <expenses@expenses.example>",
    FX_SOURCES: outside.rateSources,
    PROVIDER_BASES: outside.providerBases,
    ...(plant && { LOAD_PLANT: plant }),
    ...env,
  });
  const world = {
    folder,
    cluster,
    admin,
    databaseUrl: url,
    adminUrl,
    isOneServer,
    secrets,
    outside,
    site,
    logs,
    wire,
    disk,
    gateway: undefined,
    standIn: undefined,
    async close() {
      await stopAll();
      await site.close();
      await outside.close();
      wire?.close();
      await admin.close();
      await cluster.stop();
      await disk?.unmount();
      logs.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
  if (isOneServer) {
    const functions = await startOneServer({
      environment: () => ({
        ...common(),
        DATABASE_URL: serviceUrl.href,
        JWT_SECRET: PLATFORM_KEYS.jwtSecret,
        MAIL_URL: `smtp://127.0.0.1:${outside.inbox.port}`,
        CHECKOUT_URL: "https://pay.example/?organization_id={organization_id}",
        RATE_LIMITS: OUT_OF_REACH,
      }),
      onLog: (text) => logs.take("server", text),
    });
    await plantInDatabase(admin, plant);
    site.open(functions);
    return { ...world, functions };
  }
  await plantInDatabase(admin, plant);
  // The identity provider's issuer is the URL under which the functions reach it. Nobody compares it.
  const platform = await start(Deno.execPath(), [
    "run",
    "--quiet",
    "--no-check",
    "-A",
    new URL("platform.ts", import.meta.url).pathname,
    adminUrl,
    site.site_url,
    site.site_url,
    String(outside.inbox.port),
  ], {
    env: { LOAD_JWT_SECRET: PLATFORM_KEYS.jwtSecret, LOAD_SECRET_KEY: PLATFORM_KEYS.secretKey },
    onLog: (text) => logs.take("platform", text),
  });
  const standIn = await startStandIn(serviceUrl.href, {
    rest: `http://127.0.0.1:${platform.port}`,
    onLog: (text) => logs.take("stand-in", text),
  });
  const gateway = faults ? openGateway(standIn.port) : undefined;
  const functions = await startFunctions({
    environment: () => ({
      ...environmentOf(`http://127.0.0.1:${gateway?.port ?? standIn.port}`),
      ...common(),
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: PLATFORM_KEYS.publishableKey }),
      SUPABASE_SECRET_KEYS: JSON.stringify({ default: PLATFORM_KEYS.secretKey }),
      FRONT_DOOR_SECRET: frontDoorSecret,
      MAIL_URL: "resend://re_load",
      LOAD_MAIL_URL: outside.mailUrl,
      RATE_LIMITS: "off",
    }),
    onLog: (slug, text) => logs.take(slug, text),
  });
  site.open(functions);
  return {
    ...world,
    functions,
    standIn,
    gateway,
    async close() {
      await gateway?.close();
      await world.close();
    },
  };
}
