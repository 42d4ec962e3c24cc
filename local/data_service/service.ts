/**
 * The database and the Supabase services around it: `/rest/v1`, `/auth/v1`, scheduled jobs and queued requests. Runs in
 * a Worker, since PGlite blocks its thread while a statement runs.
 */
import { describeError, type Log } from "../../shared/log.ts";
import { sendMail } from "../../shared/mail/send_mail.ts";
import { createIdentityProvider } from "../auth/identity_provider.ts";
import { readAuthSettings } from "../auth/settings.ts";
import { type Migration, readMigrations } from "../database/migrations.ts";
import { preparationDigest, prepareDatabase, prepareOnce } from "../database/prepare.ts";
import type { SqlDatabase } from "../database/sql.ts";
import { startCron } from "../jobs/cron.ts";
import { startNet } from "../jobs/net.ts";
import { createLiteApp } from "../lite/app.ts";
import { correctConnection } from "../lite/corrections.ts";
import { SELL_PLANS } from "../plans/switch_plans.ts";
import { openDatabase } from "./connection.ts";
import { loadDemo, readDemo } from "./demo.ts";
import { copyPreparedImage } from "./prepared_image.ts";
import { startStatistics } from "./statistics.ts";
import type { DataService, DataServiceSettings } from "./settings.ts";

/** @throws {MigrationError} and the database's own errors. */
export async function startDataService(settings: DataServiceSettings, log: Log): Promise<DataService> {
  const migrations = await readMigrations();
  const preparedAs = await preparationDigest(migrations);
  const isPrepared = await isPreparedAs(preparedAs, settings.database, migrations);
  const { database, connection, close } = await openDatabase(settings.database);
  const lite = createLiteApp(connection, settings);
  if (!isPrepared) {
    const how = { createAuthTables: () => lite.ensureSystemSchema(), migrations, digest: preparedAs };
    await (settings.production ? prepareOnce : prepareDatabase)(database, how);
  }
  await correctConnection(connection);
  await database.query("select jobs.fill_vault($1, $2)", [settings.publicUrl, settings.cronSecret]);
  if (settings.sellsPlans) await database.exec(SELL_PLANS);
  if (settings.demo) await loadDemo(database);

  const passOn = async (request: Request) => await lite.fetch(request);
  const statistics = "folder" in settings.database
    ? startStatistics(database, (thrown) => log.error("failure", { error: describeError(thrown) }))
    : undefined;
  const identityProvider = createIdentityProvider({
    ...settings,
    database,
    settings: await readAuthSettings(),
    isHardened: settings.production !== undefined,
    sendMail: (mail) => sendMail({ config: settings, fetch }, mail),
    passOn,
  });
  const server = Deno.serve({ hostname: "127.0.0.1", port: settings.port ?? 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    try {
      if (pathname.startsWith("/rest/v1/")) {
        statistics?.noteRequest();
        return await passOn(request);
      }
      if (pathname.startsWith("/auth/v1/")) return await identityProvider(request);
    } catch (thrown) {
      log.error("failure", { route: pathname, error: describeError(thrown) });
      return Response.json({ code: 500, msg: "The embedded service failed; see its log" }, { status: 500 });
    }
    // Hides the rest of lite, part of which needs no key: its settings, the whole schema, a data editor.
    return Response.json({ message: "Not found" }, { status: 404 });
  });

  const jobs = await startJobs(database, settings, log);
  // lite reads the schema before its first response, so send it a request now.
  connection.introspect({ useCache: true }).catch((thrown) => log.error("failure", { error: describeError(thrown) }));
  return {
    preparedAs,
    url: `http://127.0.0.1:${server.addr.port}`,
    demo: await readDemo(database),
    setClockOffset: jobs.setClockOffset,
    async close() {
      await Promise.all([jobs.stop(), statistics?.stop()]);
      await server.shutdown();
      await close();
    },
  };
}

/**
 * Whether the folder is already prepared, which saves half a second. An empty folder is copied from the prepared
 * image.
 */
async function isPreparedAs(
  digest: string,
  database: DataServiceSettings["database"],
  migrations: readonly Migration[],
): Promise<boolean> {
  if ("url" in database) return false;
  if (database.preparedAs === undefined) return await copyPreparedImage(database.folder, digest, migrations);
  return database.preparedAs === digest;
}

// The real extensions run jobs and send requests themselves.
async function startJobs(database: SqlDatabase, settings: DataServiceSettings, log: Log) {
  const [stand] = await database.query<{ in_cron: boolean; in_net: boolean }>(
    `select to_regproc('cron.announce_change') is not null as in_cron, to_regproc('net._urlencode_string') is not null as in_net`,
  );
  let offset = 0;
  const clock = () => new Date(Date.now() + offset);
  const { publicUrl, production } = settings;
  const addressOf = (url: string) =>
    production && url.startsWith(`${publicUrl}/`) ? production.jobsUrl + url.slice(publicUrl.length) : url;
  const cron = settings.schedules && stand!.in_cron
    ? await startCron(database, { clock, log, isReal: () => offset === 0 })
    : undefined;
  const net = stand!.in_net ? await startNet(database, { log, addressOf }) : undefined;
  return {
    setClockOffset(ms: number) {
      offset = ms;
      cron?.reschedule();
    },
    stop: async () => void await Promise.all([cron?.stop(), net?.stop()]),
  };
}
