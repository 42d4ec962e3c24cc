/**
 * Assembles the embedded stack: mail, the data service in its Worker, the functions and the front door on one port, and
 * the mailbox and the clock on another. It prints nothing and never exits the process.
 */
import { withMailedAddress } from "../functions/auth-callback/sign_in/mailed_address.ts";
import { ConfigError, readConfig } from "../shared/config.ts";
import { createDatabase, type Database } from "../shared/db/client.ts";
import { createLog } from "../shared/log.ts";
import { assembleFunctions, NEEDED } from "./assemble.ts";
import { movableClock } from "./clock.ts";
import { openDataFolder } from "./data_folder.ts";
import { startDataServiceWorker } from "./data_service/client.ts";
import type { DataService, DataServiceSettings } from "./data_service/settings.ts";
import { storeDemoCredential } from "./demo_credential.ts";
import { functionEnvironment } from "./environment.ts";
import { listen } from "./http_server.ts";
import { createLocalRoutes } from "./local_routes.ts";
import { LOCAL_DOMAIN } from "./local_domain.ts";
import { startMailSink } from "./mail/smtp_sink.ts";
import { isPublic, type StartOptions } from "./options.ts";
import { provideRates } from "./rates/first_rates.ts";
import { createRouter } from "./router.ts";
import type { RunningStack } from "./running_stack.ts";
import { readSecrets } from "./secrets.ts";
import { activeStandIns, MAIL_FROM, type StackFacts } from "./stand_ins.ts";
import { startOnBooks } from "./upgrade.ts";

export interface Stack {
  running: RunningStack;
  close(): Promise<void>;
}

export interface StackEvents {
  /** Called when an essential part stops unexpectedly. */
  onDeath: (error: Error) => void;
  /** Called when a slow step begins. */
  onProgress: (line: string) => void;
}

/**
 * @throws {FolderError} when the folder is in use or not ours, {Deno.errors.AddrInUse} for the port, {ConfigError} for
 * the environment, and {UpgradeError}, or the database's own error on an external server, when a migration fails. The
 * process should exit then, because parts may still be open.
 */
export async function startStack(options: StartOptions, { onDeath, onProgress }: StackEvents): Promise<Stack> {
  // Loads while the database opens in its Worker.
  const loading = import("./functions.ts");
  const folder = await openDataFolder(options.data, options);
  const env = Deno.env.toObject();
  const secrets = await readSecrets(folder, env);
  const writeLine = options.json ? undefined : openLogFile(folder.path("stack.log"));
  const log = createLog(writeLine);
  // Binds the port before any slow step, to report a port in use immediately and to know a free port's number.
  const server = listen(options.port, log);
  const supabaseUrl = server.url;
  const siteUrl = options.siteUrl ?? supabaseUrl;
  const isOpen = isPublic(siteUrl);
  if (isOpen && !env.MAIL_URL) {
    throw new ConfigError(["MAIL_URL is not set, and a stack with a public address shows no mailbox"]);
  }

  const mail = await startMailSink();
  // On a port that no proxy of the site reaches. A public stack has no such port, because its mail, clock and
  // stand-ins must remain private.
  const localServer = isOpen ? undefined : listen(0, log);
  const localBase = `/${crypto.randomUUID()}`;
  const localUrl = localServer && localServer.url + localBase;
  const facts: StackFacts = {
    own: env,
    db: options.db,
    demoRates: options.demoRates,
    localUrl,
    mailboxUrl: `smtp://127.0.0.1:${mail.port}`,
    inboundSecret: crypto.randomUUID(),
  };
  const settings = {
    siteUrl,
    publicUrl: supabaseUrl,
    jwtSecret: secrets.jwt_secret,
    publishableKey: secrets.publishable_key,
    secretKey: secrets.secret_key,
    cronSecret: first(secrets.cron_secret),
    mailUrl: env.MAIL_URL ?? facts.mailboxUrl,
    mailFrom: env.MAIL_FROM ?? MAIL_FROM,
    sellsPlans: Boolean(env.CHECKOUT_URL),
    demo: options.demo,
    schedules: options.schedules,
  };
  const startOn = (database: DataServiceSettings["database"]) =>
    startDataServiceWorker({ ...settings, database }, onDeath);
  const data = options.db === "embedded"
    ? await startOnBooks(folder, startOn, onProgress)
    : await startOn({ url: options.db });

  const demoEmail = data.demo?.email;
  const config = readConfig(
    functionEnvironment({ ...facts, siteUrl, supabaseUrl, secrets, demoEmail }),
    NEEDED,
  );
  const clock = movableClock(data.setClockOffset);
  // The functions reach the database directly, not through this port.
  const database = createDatabase({ url: data.url, key: secrets.secret_key });
  // On a busy machine, the first calls exceed a request's time limit.
  const patient: Database = { call: (name, args) => database.call(name, args, { deadlineMs: START_CALL_MS }) };
  if (options.demo && data.demo) await storeDemoCredential(patient, { keys: config.credentialsKeys, at: clock.now() });
  const lacksRates = await provideRates(
    { config, database: patient, clock: clock.now, log, fetch },
    { isDemo: options.demoRates, onProgress },
  );
  await loading;
  const functions = await assembleFunctions({ config, database, clock: clock.now, fetch }, { env, writeLine });
  const isInbound = localUrl !== undefined && config.inbound?.domain === LOCAL_DOMAIN;
  if (isInbound) {
    const { handOverTo } = await import("./mail/hand_over.ts");
    mail.handOver(LOCAL_DOMAIN, handOverTo(functions, config.inbound!));
  }
  const demoLink = demoEmail &&
    (async () => {
      const token = await signInToken(data, { email: demoEmail, secretKey: secrets.secret_key });
      const link = `${siteUrl}/auth/callback?${new URLSearchParams({ token_hash: token, type: "magiclink" })}`;
      return await withMailedAddress(config, link, { address: demoEmail, at: clock.now() });
    });
  const local = createLocalRoutes({ base: localBase, siteUrl, mail, clock, ...demoLink && { demoLink } });
  localServer?.answerWith((request) => local.fetch(request));
  server.answerWith(
    createRouter({
      functions,
      dataUrl: data.url,
      frontDoorSecret: first(secrets.front_door_secret),
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
    local_url: localUrl ?? null,
    mail_url: localUrl && !env.MAIL_URL ? `${localUrl}/mail` : null,
    smtp_url: isInbound ? facts.mailboxUrl : null,
    stand_ins: activeStandIns({ ...facts, lacksRates }),
    database_url: options.db === "embedded" ? null : options.db,
    demo: data.demo,
  };
  await folder.writeJson("running.json", running);
  return {
    running,
    async close() {
      for (const part of [server, localServer, data, mail]) await part?.close();
      await folder.release();
    },
  };
}

const START_CALL_MS = 60_000;

const first = (list: string) => list.split(",")[0]!.trim();

/**
 * Logs to a file, so that the welcome message on a terminal remains visible. Our own failures also appear on the
 * terminal. Overwrites the file of an earlier run.
 */
function openLogFile(path: string): (line: string) => void {
  const file = Deno.openSync(path, { create: true, write: true, truncate: true, mode: 0o600 });
  return (line) => {
    const bytes = new TextEncoder().encode(`${line}\n`);
    file.writeSync(bytes);
    if (line.includes('"event":"failure"')) Deno.stderr.writeSync(bytes);
  };
}

/** The token hash of a new sign-in link to an address, without a mail. */
async function signInToken(
  { url }: DataService,
  request: { email: string; secretKey: string },
): Promise<string> {
  const response = await fetch(`${url}/auth/v1/admin/generate_link`, {
    method: "POST",
    headers: { apikey: request.secretKey, "content-type": "application/json" },
    body: JSON.stringify({ type: "magiclink", email: request.email }),
  });
  const { hashed_token } = await response.json();
  return hashed_token;
}
