/**
 * Assembles the embedded stack: mail, the data service in its Worker, the functions and the front door, on one port. It
 * prints nothing and never exits the process.
 */
import { type Config, readConfig } from "../shared/config.ts";
import { createDatabase } from "../shared/db/client.ts";
import { createLog } from "../shared/log.ts";
import { createDenoNetwork } from "../shared/net/deno_network.ts";
import { createGuardedFetch } from "../shared/net/guarded_fetch.ts";
import { refusedHosts } from "../shared/net/guarded_url.ts";
import { movableClock } from "./clock.ts";
import { openDataFolder } from "./data_folder.ts";
import { startDataServiceWorker } from "./data_service/client.ts";
import { isHealthy, signInToken } from "./data_service/requests.ts";
import type { DataServiceSettings } from "./data_service/settings.ts";
import { storeDemoCredential } from "./demo_credential.ts";
import { functionEnvironment, MAIL_FROM } from "./environment.ts";
import { listen } from "./http_server.ts";
import { openLogFile } from "./log_file.ts";
import { createLocalRoutes } from "./local_routes.ts";
import { startMailSink } from "./mail/smtp_sink.ts";
import type { StartOptions } from "./options.ts";
import { createRouter } from "./router.ts";
import type { RunningStack } from "./running_stack.ts";
import { readSecrets } from "./secrets.ts";
import { openTelemetry } from "./telemetry.ts";
import { startOnBooks } from "./upgrade.ts";

export interface Stack {
  running: RunningStack;
  close(): Promise<void>;
}

export interface StackEvents {
  /** An essential part died. */
  onDeath: (error: Error) => void;
  /** What takes a while begins; a line for whoever waits. */
  onProgress: (line: string) => void;
}

/**
 * @throws {FolderError} when the folder is in use or not ours, {Deno.errors.AddrInUse} for the port, {ConfigError} for
 *   the environment, and {UpgradeError}, or the database's own error on an external server, when a migration fails. The
 *   process should exit then: parts may be left open.
 */
export async function startStack(options: StartOptions, { onDeath, onProgress }: StackEvents): Promise<Stack> {
  // Loaded while the database opens in its Worker.
  const loading = import("./functions.ts");
  const folder = await openDataFolder(options.data, options);
  const env = Deno.env.toObject();
  const secrets = await readSecrets(folder, env);
  const writeLine = options.json ? undefined : openLogFile(folder.path("stack.log"));
  const log = createLog(writeLine);
  // Before anything slow, so that a port in use is reported immediately, and a free one is known.
  const server = listen(options.port, log);
  const supabaseUrl = server.url;
  const siteUrl = options.siteUrl ?? supabaseUrl;

  const mail = await startMailSink();
  const settings = {
    siteUrl,
    publicUrl: supabaseUrl,
    jwtSecret: secrets.jwt_secret,
    publishableKey: secrets.publishable_key,
    secretKey: secrets.secret_key,
    cronSecret: first(secrets.cron_secret),
    smtpPort: mail.port,
    mailFrom: env.MAIL_FROM ?? MAIL_FROM,
    demo: options.demo,
    schedules: options.schedules,
  };
  const startOn = (database: DataServiceSettings["database"]) =>
    startDataServiceWorker({ ...settings, database }, onDeath);
  const data = options.db === "embedded"
    ? await startOnBooks(folder, startOn, onProgress)
    : await startOn({ url: options.db });

  // Anybody who finds a public address must not get in through the demo button.
  const demoEmail = options.siteUrl ? undefined : data.demo?.email;
  const config = readConfig(
    functionEnvironment(env, { siteUrl, supabaseUrl, smtpPort: mail.port, secrets, demoEmail }),
    NEEDED,
  );
  const clock = movableClock(data.setClockOffset);
  // The functions reach the database directly, not through this port.
  const database = createDatabase({ url: data.url, key: secrets.secret_key });
  if (options.demo && data.demo) await storeDemoCredential(database, { keys: config.credentialsKeys, at: clock.now() });
  const guardedFetch = createGuardedFetch({ network: createDenoNetwork(), fetch, refusedHosts: refusedHosts(config) });
  const { createFunctions } = await loading;
  const telemetry = openTelemetry(env);
  const functions = createFunctions((slug) => {
    const log = createLog(writeLine, { function: slug });
    const deps = { config, database, clock: clock.now, log, fetch, guardedFetch };
    return telemetry ? telemetry.watch(deps) : deps;
  });
  const local = createLocalRoutes({
    mail,
    clock,
    isHealthy: () => isHealthy(data),
    demoToken: demoEmail ? () => signInToken(data, { email: demoEmail, secretKey: secrets.secret_key }) : undefined,
  });
  server.answerWith(
    createRouter({
      functions: telemetry ? telemetry.trace(functions) : functions,
      dataUrl: data.url,
      frontDoorSecret: first(secrets.front_door_secret),
      local,
    }),
  );

  const running: RunningStack = {
    pid: Deno.pid,
    site_url: siteUrl,
    mcp_url: `${siteUrl}/api/mcp`,
    functions_url: `${supabaseUrl}/functions/v1`,
    supabase_url: supabaseUrl,
    publishable_key: secrets.publishable_key,
    secret_key: secrets.secret_key,
    cron_secret: first(secrets.cron_secret),
    payment_webhook_secret: first(secrets.payment_webhook_secret),
    mail_url: `${supabaseUrl}/local/mail`,
    database_url: options.db === "embedded" ? null : options.db,
    demo: data.demo,
  };
  await folder.writeJson("running.json", running);
  return {
    running,
    async close() {
      for (const part of [server, data, mail]) await part.close();
      await folder.release();
    },
  };
}

const NEEDED: (keyof Config)[] = [
  "siteUrl",
  "supabaseUrl",
  "publishableKey",
  "serviceRoleKey",
  "codeSecrets",
  "cronSecrets",
  "credentialsKeys",
];

const first = (list: string) => list.split(",")[0]!.trim();
