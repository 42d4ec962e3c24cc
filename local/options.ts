/** The command line of `deno task start`. */
import { parseArgs } from "node:util";
import { isLoopback } from "../shared/net/loopback.ts";
import { taskCommand } from "./command_line.ts";

export interface StartOptions {
  /** 0 picks a free port. */
  port: number;
  /** The stack's data folder. */
  data: string;
  /** `embedded`, or the URL of a real PostgreSQL. */
  db: string;
  /** Base URL of the site if it differs from the stack's own, such as a tunnel's URL. */
  siteUrl?: string;
  demoRates: boolean;
  fresh: boolean;
  demo: boolean;
  schedules: boolean;
  json: boolean;
  /** Run for real use; the only other options are `port` and `schedules`. */
  production: boolean;
}

/** Differs from the port of `supabase start` (54321), so both can run side by side. */
const DEFAULT_PORT = "7400";

export const USAGE = `${taskCommand("start")} [options]

  --port <number>     where to listen on 127.0.0.1; 0 picks a free port (${DEFAULT_PORT})
  --data <folder>     where to keep the database and the secrets (.local)
  --db <embedded|URL> PGlite, or postgres://… of a PostgreSQL 15 or newer, as its superuser (embedded): for
                      development; --production is for use
  --site-url <URL>    the site's address, when a proxy or tunnel leads here
  --accept-public-risk
                      allow a --site-url that others can reach: this stack is made for trying the service out, and
                      imitates sign-in, database API and scheduler. Needs MAIL_URL and MAIL_FROM; there is no mailbox
  --demo-rates        convert by a dated snapshot of exchange rates, and ask no source
  --fresh             empty the folder first
  --no-demo           without demo data
  --no-schedules      without running scheduled jobs
  --production        run the service for real use, with settings from the environment (docs/self-hosting.md); takes
                      only --port and --no-schedules
  --json              one line of JSON instead of the welcome, and the log on standard error instead of in stack.log`;

/** An invalid command line; the message addresses the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** @throws {UsageError} */
export function parseOptions(args: string[]): StartOptions {
  const values = read(args);
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new UsageError(`--port ${values.port} is not a port number`);
  }
  if (values.db !== "embedded" && !/^postgres(ql)?:\/\//.test(values.db)) {
    throw new UsageError(`--db ${values.db} is neither "embedded" nor a postgres:// address`);
  }
  const surplus = args.find((arg) => arg.startsWith("--") && !OF_PRODUCTION.test(arg));
  if (values.production && surplus) {
    throw new UsageError(`--production takes its settings from the environment, not ${surplus} (docs/self-hosting.md)`);
  }
  const siteUrl = values["site-url"];
  if (siteUrl && !URL.canParse(siteUrl)) throw new UsageError(`--site-url ${siteUrl} is not a URL`);
  if (siteUrl && isPublic(siteUrl) && !values["accept-public-risk"]) {
    throw new UsageError(
      `--site-url ${siteUrl} can be reached by others, and this stack is made for trying the service out on your own ` +
        "machine: deploy it instead (README, Deploy), run it with --production, or add --accept-public-risk",
    );
  }
  return {
    port,
    data: values.data,
    db: values.db,
    siteUrl: siteUrl && new URL(siteUrl).origin,
    demoRates: values["demo-rates"],
    fresh: values.fresh,
    demo: values.demo,
    schedules: values.schedules,
    json: values.json,
    production: values.production,
  };
}

const OF_PRODUCTION = /^--($|production$|port(=|$)|no-schedules$)/;

/** Whether other machines can reach this address. */
export const isPublic = (siteUrl: string): boolean => !isLoopback(new URL(siteUrl).hostname);

function read(args: string[]) {
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"),
      allowNegative: true,
      options: {
        port: { type: "string", default: DEFAULT_PORT },
        data: { type: "string", default: ".local" },
        db: { type: "string", default: "embedded" },
        "site-url": { type: "string" },
        "accept-public-risk": { type: "boolean", default: false },
        "demo-rates": { type: "boolean", default: false },
        fresh: { type: "boolean", default: false },
        demo: { type: "boolean", default: true },
        schedules: { type: "boolean", default: true },
        json: { type: "boolean", default: false },
        production: { type: "boolean", default: false },
      },
    }).values;
  } catch (thrown) {
    throw new UsageError((thrown as Error).message);
  }
}
