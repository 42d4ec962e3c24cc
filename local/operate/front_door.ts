/** `deno task operate front-door --site URL --functions URL [--env-file PATH]`: prints the front door as a Caddyfile. */
import { fail, print, readCommandLine, readSettings, taskCommand } from "../command_line.ts";
import { listOf } from "../deploy/settings.ts";
import { caddyConfig } from "../front_door/caddy.ts";

const usage = `${
  taskCommand("operate front-door")
} --site https://expenses.example.com --functions https://<project>.supabase.co/functions/v1
  --env-file <path>  where FRONT_DOOR_SECRET is, if not in the environment

The Caddyfile holds the secret: keep it where only Caddy reads it.`;

const { values, positionals } = readCommandLine({
  "site": { type: "string" },
  "functions": { type: "string" },
  "env-file": { type: "string" },
}, usage);
if (positionals.length > 1) fail(usage);
const site = urlOf("site", values.site);
const functions = urlOf("functions", values.functions);
if (site.pathname !== "/") fail("--site has no path.");

const path = values["env-file"];
const [secret] = listOf(
  Deno.env.get("FRONT_DOOR_SECRET") || (path ? (await readSettings(path)).get("FRONT_DOOR_SECRET") : undefined),
);
if (!secret) {
  print(
    "FRONT_DOOR_SECRET is not set (name the settings with --env-file): put it in place of <FRONT_DOOR_SECRET> below.",
    Deno.stderr,
  );
}
print(
  caddyConfig({
    host: site.protocol === "http:" ? site.origin : site.host,
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
