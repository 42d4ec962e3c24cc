/**
 * `deno task front-door -- caddy|nginx --site URL --functions URL [--env-file PATH]`: prints the front door as
 * configuration for that server.
 */
import { fail, print, readCommandLine, taskCommand } from "../command_line.ts";
import { parseEnvFile } from "../deploy/env_file.ts";
import { SERVERS } from "./server_config.ts";

const usage = `${
  taskCommand("front-door")
} -- caddy|nginx --site https://expenses.example.com --functions https://<project>.supabase.co/functions/v1
  --env-file <path>  where FRONT_DOOR_SECRET is, if not in the environment

The configuration holds the secret: keep it where only the server reads it.`;

const { values, positionals } = readCommandLine({
  "site": { type: "string" },
  "functions": { type: "string" },
  "env-file": { type: "string" },
}, usage);
const [server, ...more] = positionals;
if ((server !== "nginx" && server !== "caddy") || more.length > 0) fail(usage);
const site = urlOf("site", values.site);
const functions = urlOf("functions", values.functions);
if (site.pathname !== "/") fail("--site has no path.");

const secret = firstOf(Deno.env.get("FRONT_DOOR_SECRET") || await readSecret());
if (!secret) {
  print(
    "FRONT_DOOR_SECRET is not set (name the settings with --env-file): put it in place of <FRONT_DOOR_SECRET> below.",
    Deno.stderr,
  );
}
print(
  SERVERS[server]({
    // Caddy serves plain http only where the address says so.
    host: server === "caddy" && site.protocol === "http:" ? site.origin : site.host,
    functionsUrl: functions.href.replace(/\/+$/, ""),
    secret: secret ?? "<FRONT_DOOR_SECRET>",
  }).trimEnd(),
);

function urlOf(name: string, text: string | undefined): URL {
  if (!text || !/^https?:\/\//.test(text) || !URL.canParse(text)) {
    fail(`--${name} is missing or not a URL.\n\n${usage}`);
  }
  return new URL(text);
}

async function readSecret(): Promise<string | undefined> {
  const path = values["env-file"];
  if (!path) return undefined;
  try {
    return parseEnvFile(await Deno.readTextFile(path)).get("FRONT_DOOR_SECRET");
  } catch (thrown) {
    fail(`${path}: ${(thrown as Error).message}`);
  }
}

function firstOf(list: string | undefined): string | undefined {
  return list?.split(",")[0]?.trim() || undefined;
}
