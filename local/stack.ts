/**
 * Puts the embedded stack together: mail, the data service in its Worker, the functions and the front door, on one port.
 * It prints nothing and ends nothing but itself.
 */
import { readConfig } from "../shared/config.ts";
import { createDatabase } from "../shared/db/client.ts";
import { createLog, describeError } from "../shared/log.ts";
import { movableClock } from "./clock.ts";
import { openDataFolder } from "./data_folder.ts";
import { startDataServiceWorker } from "./data_service/client.ts";
import type { DataService, Demo } from "./data_service/settings.ts";
import { functionEnvironment, MAIL_FROM } from "./environment.ts";
import { createFrontDoor } from "./front_door/front_door.ts";
import { createFunctions, FUNCTIONS_ORIGIN } from "./functions.ts";
import { createLocalRoutes } from "./local_routes.ts";
import { startMailSink } from "./mail/smtp_sink.ts";
import type { StartOptions } from "./options.ts";
import { forward } from "./front_door/proxy.ts";
import { readSecrets, type Secrets } from "./secrets.ts";

/** What `--json` prints and `running.json` holds. */
export interface RunningStack {
  pid: number;
  site_url: string;
  mcp_url: string;
  functions_url: string;
  supabase_url: string;
  publishable_key: string;
  secret_key: string;
  cron_secret: string;
  payment_webhook_secret: string;
  mail_url: string;
  /** Null on PGlite, which only this process can open. */
  database_url: string | null;
  demo?: Demo;
}

export interface Stack {
  running: RunningStack;
  close(): Promise<void>;
}

/**
 * @throws {FolderError} when the folder is in use or not ours, {Deno.errors.AddrInUse} for the port, {ConfigError} for the environment, and
 * whatever the database says when a migration fails.
 * @param onDeath is told when a part dies that the rest cannot do without.
 */
export async function startStack(options: StartOptions, onDeath: (error: Error) => void): Promise<Stack> {
  const closers: (() => Promise<unknown> | void)[] = [];
  const close = async () => {
    for (const closeOne of closers.toReversed()) await closeOne();
  };
  try {
    return { running: await open(options, { closers, onDeath }), close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

interface Lifetime {
  /** What to close, in the opposite order. */
  closers: (() => Promise<unknown> | void)[];
  onDeath: (error: Error) => void;
}

async function open(options: StartOptions, { closers, onDeath }: Lifetime): Promise<RunningStack> {
  const folder = await openDataFolder(options.data, options);
  closers.push(folder.release);
  const env = Deno.env.toObject();
  const secrets = await readSecrets(folder, env);
  const log = createLog();

  // Bound before anything slow starts: a port in use is said at once, and a free one is known from here on.
  let answer: Answer = () =>
    Promise.resolve(new Response("Starting\n", { status: 503, headers: { "retry-after": "1" } }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: options.port, onListen() {}, onError: (thrown) => failed(thrown) },
    (request, { remoteAddr }) => answer(request, { address: remoteAddr.hostname }),
  );
  const failed = (thrown: unknown) => {
    log.error("failure", { error: describeError(thrown) });
    return new Response("The stack failed; its log says why\n", { status: 500 });
  };
  closers.push(() => server.shutdown());
  const supabaseUrl = `http://127.0.0.1:${server.addr.port}`;
  const siteUrl = options.siteUrl ?? supabaseUrl;

  const mail = await startMailSink();
  closers.push(mail.close);
  const data = await startDataServiceWorker({
    database: options.db === "embedded" ? { folder: await folder.databaseFolder() } : { url: options.db },
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
    clockOffsetMs: 0,
  }, onDeath);
  closers.push(data.close);
  await folder.markReady();

  const clock = movableClock(data.setClockOffset);
  // Whoever finds a public address must not be let in by the demo's button.
  const demoEmail = options.siteUrl ? undefined : data.demo?.email;
  const config = readConfig(
    functionEnvironment(env, { siteUrl, supabaseUrl, smtpPort: mail.port, secrets, demoEmail }),
    ["siteUrl", "supabaseUrl", "publishableKey", "serviceRoleKey", "codeSecrets", "cronSecrets"],
  );
  // The functions reach the database without the detour through this port.
  const database = createDatabase({ url: data.url, key: secrets.secret_key });
  const functions = createFunctions((slug) => ({
    config,
    database,
    clock: clock.now,
    log: createLog(undefined, { function: slug }),
    fetch,
  }));
  const local = createLocalRoutes({
    mail,
    clock,
    isHealthy: () => fetch(`${data.url}/health`).then((response) => response.ok, () => false),
    demoToken: demoEmail ? () => signInToken(data, secrets, demoEmail) : undefined,
  });
  answer = route({ functions, data, local });

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
  return running;
}

type Answer = (request: Request, client: { address: string }) => Promise<Response> | Response;

/** The front door, and beside it what Supabase serves at the same address in production. */
function route(parts: {
  functions: (request: Request) => Promise<Response>;
  data: DataService;
  local: { fetch(request: Request): Promise<Response> | Response };
}): Answer {
  const frontDoor = createFrontDoor({ functionsUrl: FUNCTIONS_ORIGIN, fetch: parts.functions });
  return (request, client) => {
    const { pathname, search } = new URL(request.url);
    const path = (prefix: string) => pathname.slice(prefix.length) + search;
    if (pathname.startsWith("/local/")) return parts.local.fetch(request);
    if (pathname.startsWith("/functions/v1/")) {
      return forward(request, { target: FUNCTIONS_ORIGIN + path("/functions/v1"), client, fetch: parts.functions });
    }
    if (/^\/(rest|auth)\/v1\//.test(pathname)) return forward(request, { target: parts.data.url + path(""), client });
    return frontDoor(request, client);
  };
}

async function signInToken(data: DataService, secrets: Secrets, email: string): Promise<string> {
  const response = await fetch(`${data.url}/auth/v1/admin/generate_link`, {
    method: "POST",
    headers: { apikey: secrets.secret_key, "content-type": "application/json" },
    body: JSON.stringify({ type: "magiclink", email }),
  });
  const { hashed_token } = await response.json();
  return hashed_token;
}

const first = (list: string) => list.split(",")[0]!.trim();
