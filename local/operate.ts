/** `deno task operate <command>`: the commands of a stack's or a deployment's operator. */
import { fail, print, taskCommand } from "./command_line.ts";

const COMMANDS: Record<string, { does: string; run: () => Promise<unknown> }> = {
  "cron": { does: "runs a scheduled job of the running stack", run: () => import("./operate/cron.ts") },
  "webhook": { does: "sends the running stack a payment event", run: () => import("./operate/webhook.ts") },
  "db": { does: "opens a prompt for SQL on a stack's books", run: () => import("./operate/db.ts") },
  "plans": { does: "turns plans on or off", run: () => import("./operate/plans.ts") },
  "reviewer": { does: "lets a directory's reviewer in", run: () => import("./operate/reviewer.ts") },
  "front-door": { does: "prints a Caddyfile", run: () => import("./operate/front_door.ts") },
  "supabase": { does: "prepares `supabase start`", run: () => import("./operate/supabase.ts") },
  "site": { does: "serves the site of `supabase start`", run: () => import("./operate/site.ts") },
};

const usage = `${taskCommand("operate")} <command> [options]\n\n${
  Object.entries(COMMANDS).map(([name, { does }]) => `  ${name.padEnd(12)}${does}`).join("\n")
}\n\nEach command explains its options with --help.`;

const [name = ""] = Deno.args.filter((arg) => arg !== "--");
if (name === "--help") print(usage);
else if (Object.hasOwn(COMMANDS, name)) await COMMANDS[name]!.run();
else fail(usage);
