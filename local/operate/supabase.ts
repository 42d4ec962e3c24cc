/**
 * `deno task operate supabase`: writes the settings that `supabase start` needs, once, and prints the two commands that follow.
 * Keys are generated for this machine only, and an existing file stays unchanged.
 */
import { fileURLToPath } from "node:url";
import { print, readCommandLine, taskCommand } from "../command_line.ts";
import { CLI_VERSION } from "../deploy/cli.ts";
import { supabaseEnvironment, writeOnce } from "../deploy/supabase_start.ts";

readCommandLine({}, taskCommand("operate supabase"));
const root = fileURLToPath(new URL("../../", import.meta.url));
for (const [path, text] of Object.entries(supabaseEnvironment())) {
  print(await writeOnce(root, path, text) ? `Wrote ${path}` : `Kept ${path}`);
}
print(`
Now, with Docker running:
  npx supabase@${CLI_VERSION} start
  deno task operate site      (in another terminal: the site, on http://127.0.0.1:8000)
Every mail lands in Mailpit, on http://127.0.0.1:54324.`);
