/**
 * `deno task selfcheck -- SITE [--functions URL]`: checks a deployment from outside and prints one line per problem. It
 * changes nothing there.
 */
import { SLUGS } from "../shared/routes.ts";
import { print, readCommandLine, taskCommand } from "./command_line.ts";
import { createSite } from "./selfcheck/check.ts";
import { checkDeployment } from "./selfcheck/run.ts";

const usage = `${
  taskCommand("selfcheck")
} -- https://expenses.example.com [--functions https://<project>.supabase.co/functions/v1]
  --functions   checks the connector at the functions' own address too`;

const { values, positionals } = readCommandLine({ functions: { type: "string" } }, usage);
const [given, ...more] = positionals;
if (!given || more.length > 0 || !URL.canParse(given)) {
  print(usage, Deno.stderr);
  Deno.exit(2);
}

const site = createSite({
  url: new URL(given).origin,
  ...(values.functions && { functionsUrl: values.functions.replace(/\/+$/, "") }),
  slugs: await builtFunctions(),
});
let faults = 0;
for await (const { kind, text } of checkDeployment(site)) {
  if (kind === "wrong") faults += 1;
  say(`${kind}: ${text}`);
}
say(faults === 0 ? `${site.url} is fine.` : `${site.url}: ${faults} ${faults === 1 ? "fault" : "faults"}.`);
Deno.exit(faults === 0 ? 0 : 1);

/** The functions in this checkout, which a deployment of it should have too. */
async function builtFunctions() {
  const folders = new URL("../functions/", import.meta.url);
  const isBuilt = await Promise.all(
    SLUGS.map((slug) => Deno.stat(new URL(`${slug}/index.ts`, folders)).then(() => true, () => false)),
  );
  return SLUGS.filter((_, index) => isBuilt[index]);
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}
