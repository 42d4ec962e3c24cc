/** Instructions for the front door, which runs elsewhere: commands or a configuration, without the secret. */
import { type Deployment, functionsUrl } from "./step.ts";

export const FRONT_DOORS = ["deno", "workers", "caddy"] as const;
export type FrontDoorKind = typeof FRONT_DOORS[number];

/** The instructions. Their commands read keys from the settings file, because a command line must not contain one. */
export function frontDoorLines(kind: FrontDoorKind, deployment: Deployment): string[] {
  const { siteUrl, envPath } = deployment;
  const { host } = new URL(siteUrl);
  const functions = functionsUrl(deployment);
  switch (kind) {
    case "deno":
      return [
        "Deno Deploy, with this checkout as the app's source and local/front_door/serve.ts as its entry point:",
        `  set FUNCTIONS_URL to ${functions}`,
        `  set FRONT_DOOR_SECRET, as a secret, to its first entry in ${envPath}`,
        `  add the domain ${host}`,
      ];
    case "workers":
      return [
        "Cloudflare Workers (the second command asks for the value of FRONT_DOOR_SECRET, its first entry in " +
        `${envPath}):`,
        `  $ npx wrangler deploy --config local/front_door/wrangler.toml --var FUNCTIONS_URL:${functions} --domain ${host}`,
        "  $ npx wrangler secret put FRONT_DOOR_SECRET --config local/front_door/wrangler.toml",
      ];
    case "caddy":
      return [
        `Caddy, on the host that ${host} leads to; the configuration holds the secret:`,
        `  $ deno task operate front-door --site ${siteUrl} --functions ${functions} --env-file ${envPath}`,
      ];
  }
}
