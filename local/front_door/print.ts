/** `deno task front-door -- caddy|nginx [--site URL] [--functions URL]`: prints the front door as configuration of that server. */
import { parseArgs } from "node:util";
import { SERVERS } from "./server_config.ts";

const USAGE =
  `deno task front-door -- caddy|nginx [--site https://expenses.example.com] [--functions https://<project>.supabase.co/functions/v1]`;

const { values, positionals } = parseArgs({
  args: Deno.args.filter((arg) => arg !== "--"),
  allowPositionals: true,
  options: {
    site: { type: "string", default: "https://expenses.example.com" },
    functions: { type: "string", default: "https://project.supabase.co/functions/v1" },
  },
});
const server: string | undefined = positionals[0];

if (server !== "nginx" && server !== "caddy") {
  Deno.stderr.writeSync(new TextEncoder().encode(`${USAGE}\n`));
  Deno.exit(1);
}
const place = { host: new URL(values.site).host, functionsUrl: values.functions.replace(/\/+$/, "") };
Deno.stdout.writeSync(new TextEncoder().encode(SERVERS[server](place)));
