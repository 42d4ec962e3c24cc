/**
 * `deno task front-door -- caddy|nginx [--site URL] [--functions URL]`: prints the front door as configuration for that
 * server.
 */
import { fail, print, readCommandLine, taskCommand } from "../command_line.ts";
import { SERVERS } from "./server_config.ts";

const usage = `${
  taskCommand("front-door")
} -- caddy|nginx [--site https://expenses.example.com] [--functions https://<project>.supabase.co/functions/v1]`;

const { values, positionals } = readCommandLine({
  site: { type: "string", default: "https://expenses.example.com" },
  functions: { type: "string", default: "https://project.supabase.co/functions/v1" },
}, usage);
const server: string | undefined = positionals[0];

if (server !== "nginx" && server !== "caddy") {
  fail(usage);
}
const place = {
  host: new URL(values.site).host,
  functionsUrl: values.functions.replace(/\/+$/, ""),
  secret: Deno.env.get("FRONT_DOOR_SECRET")?.split(",")[0]?.trim() || "<FRONT_DOOR_SECRET>",
};
print(SERVERS[server](place).trimEnd());
