/**
 * The whole service under load: PostgreSQL with the migrations, the stand-in for PostgREST, the identity provider, each
 * function in its own process, and other services' servers. Rate limits are off: the load comes from one address.
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
import { openWire, type Wire } from "./wire.ts";

/** The books of months are written in minutes, and statistics have to keep up as they do in months. */
const GROWING = { autovacuum_naptime: "5s" };

export interface World {
  /** A folder of the run's own: logs and dumps. */
  folder: string;
  cluster: Cluster;
  /** As the superuser. */
  admin: SqlDatabase;
  databaseUrl: string;
  secrets: Secrets;
  outside: Outside;
  site: Site;
  functions: Functions;
  standIn: Started;
  platform: Started;
  logs: Logs;
  /** Between the stand-in and PostgreSQL, and between the functions and the stand-in; only with `faults`. */
  wire: Wire | undefined;
  gateway: Gateway | undefined;
  /** A small file system under PostgreSQL; only with `faults`, where mounting is allowed. */
  disk: Disk | undefined;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** Puts what can be cut, slowed and bent between the parts. */
  faults?: boolean;
  /** A defect to plant (plants.ts). */
  plant?: string | undefined;
  /** Further variables of the functions. */
  env?: Record<string, string>;
}

export async function openWorld({ faults = false, plant, env = {} }: WorldOptions = {}): Promise<World> {
  const folder = await Deno.makeTempDir({ prefix: "expense-load-" });
  const logs = openLogs(`${folder}/functions.log`);
  const disk = faults ? await mountDisk("900m") : undefined;
  const cluster = await startCluster({
    settings: { ...DURABLE, ...GROWING, shared_buffers: "256MB", ...(faults && { max_wal_size: "128MB" }) },
    dir: disk?.dir,
  });
  const { url } = await newMigratedDatabase(cluster.urlOf("postgres", "supabase_exposed"), await readMigrations());
  const admin = postgresDatabase(withParts(url, { role: "supabase_admin" }), { max: 3 });
  await plantInDatabase(admin, plant);
  const secrets = newSecrets();
  const frontDoorSecret = newSecret("door");
  const outside = await openOutside();
  const site = startSite({ inbox: outside.inbox, secret: frontDoorSecret });

  const wire = faults ? await openWire(Number(new URL(url).port)) : undefined;
  const standInUrl = new URL(withParts(url, { role: "authenticator" }));
  if (wire) standInUrl.port = String(wire.port);
  // The identity provider names itself by the address that the functions know it by, which nobody compares.
  const platform = await start(Deno.execPath(), [
    "run",
    "--quiet",
    "--no-check",
    "-A",
    new URL("platform.ts", import.meta.url).pathname,
    withParts(url, { role: "supabase_admin" }),
    site.site_url,
    site.site_url,
    String(outside.inbox.port),
  ], {
    env: { LOAD_JWT_SECRET: PLATFORM_KEYS.jwtSecret, LOAD_SECRET_KEY: PLATFORM_KEYS.secretKey },
    onLog: (text) => logs.take("platform", text),
  });
  const standIn = await startStandIn(standInUrl.href, {
    rest: `http://127.0.0.1:${platform.port}`,
    onLog: (text) => logs.take("stand-in", text),
  });
  const gateway = faults ? openGateway(standIn.port) : undefined;
  const functions = await startFunctions({
    environment: () => ({
      ...environmentOf(`http://127.0.0.1:${gateway?.port ?? standIn.port}`),
      NEXT_PUBLIC_SITE_URL: site.site_url,
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: PLATFORM_KEYS.publishableKey }),
      SUPABASE_SECRET_KEYS: JSON.stringify({ default: PLATFORM_KEYS.secretKey }),
      OAUTH_CODE_SECRET: secrets.code.join(),
      CRON_SECRET: secrets.cron.join(),
      PAYMENT_WEBHOOK_SECRET: secrets.webhook.join(),
      CREDENTIALS_KEY: secrets.credentials.join(),
      FRONT_DOOR_SECRET: frontDoorSecret,
      MAIL_URL: "resend://re_load",
      MAIL_FROM: "Expenses <expenses@expenses.example>",
      LOAD_MAIL_URL: outside.mailUrl,
      FX_SOURCES: outside.rateSources,
      PROVIDER_BASES: outside.providerBases,
      RATE_LIMITS: "off",
      ...(plant && { LOAD_PLANT: plant }),
      ...env,
    }),
    onLog: (slug, text) => logs.take(slug, text),
  });
  site.open(functions);
  return {
    folder,
    cluster,
    admin,
    databaseUrl: url,
    secrets,
    outside,
    site,
    functions,
    standIn,
    platform,
    logs,
    wire,
    gateway,
    disk,
    async close() {
      await stopAll();
      await site.close();
      await gateway?.close();
      await outside.close();
      wire?.close();
      await admin.close();
      await cluster.stop();
      await disk?.unmount();
      logs.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
