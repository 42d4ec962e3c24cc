/**
 * `deno task selfcheck -- SITE [options]`: checks a deployment and prints one line per problem. It changes nothing
 * there.
 */
import { type Slug, SLUGS } from "../shared/routes.ts";
import { fileURLToPath } from "node:url";
import { fail, print, readCommandLine, readSettings, taskCommand } from "./command_line.ts";
import { createCli } from "./deploy/cli.ts";
import { listOf } from "./deploy/settings.ts";
import { diffAuthConfig, diffMailTexts, writeAuthConfig } from "./deploy/sign_in.ts";
import { createSite } from "./selfcheck/check.ts";
import { checkDeployment } from "./selfcheck/run.ts";

const usage = `${
  taskCommand("selfcheck")
} -- https://expenses.example.com [--functions https://<project>.supabase.co/functions/v1]
  --functions   checks the connector at the functions' own address too
  --env-file    the deployment's settings: their CRON_SECRET opens the state of vault, jobs and clocks
  --mail        sends a test mail to this address; needs --env-file
  --project     compares the settings of Supabase Auth; needs --env-file and SUPABASE_ACCESS_TOKEN`;

const { values, positionals } = readCommandLine({
  "functions": { type: "string" },
  "env-file": { type: "string" },
  "mail": { type: "string" },
  "project": { type: "string" },
}, usage);
const [given, ...more] = positionals;
if (!given || more.length > 0 || !URL.canParse(given)) {
  print(usage, Deno.stderr);
  Deno.exit(2);
}

const envPath = values["env-file"];
if ((values.mail || values.project) && !envPath) fail("--mail and --project need --env-file.");
const settings = envPath ? await readSettings(envPath) : undefined;
const cronSecret = listOf(settings?.get("CRON_SECRET"))[0];

const site = createSite({
  url: new URL(given).origin,
  ...(values.functions && { functionsUrl: values.functions.replace(/\/+$/, "") }),
  ...(cronSecret && { cronSecret }),
  ...(values.mail && { mailTo: values.mail }),
  ...(values.project && settings && { signInDifferences: () => compareSignIn(values.project!, settings) }),
  slugs: await builtFunctions(),
});
let faults = 0;
for await (const { kind, text } of checkDeployment(site)) {
  if (kind === "wrong") faults += 1;
  print(`${kind}: ${text}`);
}
print(faults === 0 ? `${site.url} is fine.` : `${site.url}: ${faults} ${faults === 1 ? "fault" : "faults"}.`);
Deno.exit(faults === 0 ? 0 : 1);

/**
 * The functions that a deployment of this checkout should have. It needs the webhook only if it sells plans, and
 * inbound-mail only if it receives mail.
 */
async function builtFunctions() {
  const folders = new URL("../functions/", import.meta.url);
  const needs: Partial<Record<Slug, string>> = {
    "payment-webhook": "PAYMENT_WEBHOOK_SECRET",
    "inbound-mail": "INBOUND_URL",
  };
  const expected = SLUGS.filter((slug) => !needs[slug] || !settings || settings.get(needs[slug]));
  const isBuilt = await Promise.all(
    expected.map((slug) => Deno.stat(new URL(`${slug}/index.ts`, folders)).then(() => true, () => false)),
  );
  return expected.filter((_, index) => isBuilt[index]);
}

/** The settings that the deploy command would push. */
async function compareSignIn(project: string, settings: Map<string, string>): Promise<string[]> {
  if (!settings.has("MAIL_URL") || !settings.has("MAIL_FROM")) {
    throw new Error(`${envPath} lacks MAIL_URL or MAIL_FROM`);
  }
  const token = Deno.env.get("SUPABASE_ACCESS_TOKEN") ?? settings.get("SUPABASE_ACCESS_TOKEN");
  if (!token) throw new Error("The settings of Supabase Auth are shown to a SUPABASE_ACCESS_TOKEN only");
  Deno.env.set("SUPABASE_ACCESS_TOKEN", token);
  const root = fileURLToPath(new URL("../", import.meta.url));
  const folder = await Deno.makeTempDir({ prefix: "expense-selfcheck-" });
  const cli = createCli({ root, say: () => {}, secrets: () => settings.values() });
  try {
    const config = await writeAuthConfig({ root, folder, siteUrl: new URL(given!).origin, values: settings });
    return [...await diffAuthConfig({ cli, project }, config), ...await diffMailTexts({ project, root, token })];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
