/**
 * The service for real use on one server (docs/self-hosting.md): settings from the environment, an existing
 * PostgreSQL, and a proxy on the same machine that terminates TLS. It exposes only the front door: no database API, no
 * identity provider, no mailbox, clock or demo data. Several instances may share a database.
 */
import { systemClock } from "../shared/clock.ts";
import { type Config, ConfigError, type Environment, readConfig } from "../shared/config.ts";
import { createDatabase } from "../shared/db/client.ts";
import { STRICT_TRANSPORT_SECURITY } from "../shared/http/transport_security.ts";
import { createLog, describeError } from "../shared/log.ts";
import { assembleFunctions, NEEDED } from "./assemble.ts";
import { startDataServiceWorker } from "./data_service/client.ts";
import { FUNCTION_SETTINGS } from "./deploy/settings.ts";
import { isForwarded } from "./forwarded.ts";
import { createFrontDoor } from "./front_door/front_door.ts";
import { forward } from "./front_door/proxy.ts";
import { FUNCTIONS_ORIGIN, type FunctionsHandler } from "./functions.ts";
import { type Answer, listen } from "./http_server.ts";
import { provideRates } from "./rates/first_rates.ts";

const GRACE_MS = 10_000;

/**
 * @throws {ConfigError} with all problems of the environment, {Deno.errors.AddrInUse} for the port, and the database's
 *   own errors.
 */
export async function startProduction(
  { port, schedules }: { port: number; schedules: boolean },
  onDeath: (error: Error) => void,
): Promise<{ siteUrl: string; close(): Promise<void> }> {
  const env = Deno.env.toObject();
  const keys = { publishableKey: crypto.randomUUID(), secretKey: `sb_secret_${crypto.randomUUID()}` };
  const frontDoorSecret = `${crypto.randomUUID()}${crypto.randomUUID()}`;
  const config = readSettings(env, { ...keys, frontDoorSecret });
  const { siteUrl } = config;
  const log = createLog();
  const server = listen(port, log, GRACE_MS);
  const data = await startDataServiceWorker({
    ...keys,
    database: { url: env.DATABASE_URL! },
    siteUrl,
    publicUrl: siteUrl,
    jwtSecret: env.JWT_SECRET!,
    cronSecret: config.cronSecrets[0]!,
    mailUrl: config.mailUrl!,
    mailFrom: config.mailFrom!,
    sellsPlans: config.checkoutUrl !== undefined,
    demo: false,
    schedules,
    production: { jobsUrl: server.url },
  }, onDeath);
  const common = {
    config,
    database: createDatabase({ url: data.url, key: keys.secretKey }),
    clock: systemClock,
    fetch: fetchWithin(siteUrl, data.url),
  };
  const functions = await assembleFunctions(common, { env });
  server.answerWith(createProductionRouter({ functions, siteUrl, frontDoorSecret }));
  // The daily job fetches these rates too.
  provideRates({ ...common, log }, { isDemo: false, isReal: true, onProgress() {} })
    .catch((thrown) => log.error("rates_not_read", { error: describeError(thrown) }));
  return {
    siteUrl,
    async close() {
      await server.close();
      await data.close();
    },
  };
}

/** @throws {ConfigError} */
function readSettings(
  env: Environment,
  own: { publishableKey: string; secretKey: string; frontDoorSecret: string },
): Config {
  const problems: string[] = [];
  if (!/^postgres(ql)?:\/\//.test(env.DATABASE_URL ?? "")) problems.push("DATABASE_URL is not postgres://…");
  if (new TextEncoder().encode(env.JWT_SECRET).length < 32) problems.push("JWT_SECRET is shorter than 32 bytes");
  if (env.AUTH_PROVIDERS) problems.push("AUTH_PROVIDERS is set, and this server signs people in by mail only");
  if (env.RATE_LIMITS === "off") problems.push("RATE_LIMITS is off");
  try {
    const config = readConfig({
      ...Object.fromEntries(FUNCTION_SETTINGS.map((name) => [name, env[name]])),
      DATABASE_SERVICE_ROLE_KEY: own.secretKey,
      FRONT_DOOR_SECRET: own.frontDoorSecret,
      // Names this service in tokens and in the vault, the same for all instances. Requests to it stay within the
      // process.
      SUPABASE_URL: env.NEXT_PUBLIC_SITE_URL,
      SUPABASE_PUBLISHABLE_KEY: own.publishableKey,
    }, [...NEEDED, "frontDoorSecrets", "mailUrl", "mailFrom"]);
    if (problems.length === 0) return config;
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    problems.push(...thrown.problems.filter((problem) => !problem.startsWith("SUPABASE_URL")));
  }
  throw new ConfigError(problems);
}

/** Requests to the identity provider go to the data service, whose port differs between instances and restarts. */
const fetchWithin = (siteUrl: string, dataUrl: string): typeof fetch => (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  if (!url.startsWith(`${siteUrl}/auth/v1/`)) return fetch(input, init);
  const inside = dataUrl + url.slice(siteUrl.length);
  return fetch(input instanceof Request ? new Request(inside, input) : inside, init);
};

export function createProductionRouter(
  { functions, siteUrl, frontDoorSecret }: { functions: FunctionsHandler; siteUrl: string; frontDoorSecret: string },
): Answer {
  const frontDoor = createFrontDoor({ functionsUrl: FUNCTIONS_ORIGIN, secret: frontDoorSecret, fetch: functions });
  return async (request, client) => {
    const { pathname, search } = new URL(request.url);
    // The scheduler calls directly; the proxy marks all other requests.
    if (pathname.startsWith("/functions/v1/cron-") && !isForwarded(request.headers)) {
      const target = FUNCTIONS_ORIGIN + pathname.slice("/functions/v1".length) + search;
      return await forward(request, { target, client, fetch: functions });
    }
    // The proxy writes the last entry; a visitor can forge the others.
    const visitor = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
    const response = await frontDoor(request, { address: visitor || client.address });
    if (siteUrl.startsWith("https:")) response.headers.set("strict-transport-security", STRICT_TRANSPORT_SECURITY);
    return response;
  };
}
