/**
 * `deno task deploy -- --project REF --site https://…`: deploys this checkout to a Supabase project, step by step. The
 * command is idempotent. `--dry-run` only compares.
 */
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENV_FILE_OPTION, fail, print, readCommandLine, readSettings, taskCommand } from "./command_line.ts";
import { createCli } from "./deploy/cli.ts";
import { FRONT_DOORS, type FrontDoorKind, frontDoorLines } from "./deploy/front_door.ts";
import { deploy, STEPS } from "./deploy/run.ts";
import { GENERATED } from "./deploy/settings.ts";
import { type Deployment, functionsUrl } from "./deploy/step.ts";

const usage = `${taskCommand("deploy")} -- --project <ref> --site https://expenses.example.com [options]

  --env-file <path>    the settings; keys that are missing are made and added (.env)
  --front-door <kind>  deno, workers or caddy: prints how to set it up (deno)
  --dry-run            compares and shows what would be done
  --replace <KEY>      lets a key be replaced by an unrelated one; can be repeated

SUPABASE_ACCESS_TOKEN is your token, unless \`npx supabase login\` has stored it.`;

const { values: given } = readCommandLine({
  project: { type: "string" },
  site: { type: "string" },
  ...ENV_FILE_OPTION,
  "front-door": { type: "string", default: "deno" },
  "dry-run": { type: "boolean", default: false },
  replace: { type: "string", multiple: true, default: [] },
}, usage);

const project = given.project ?? "";
const site = given.site ?? "";
const kind = given["front-door"] as FrontDoorKind;
const unknownKey = given.replace.find((name) => !(name in GENERATED));
if (!/^[a-z]{20}$/.test(project)) fail(`--project is the project's reference: twenty lower-case letters.\n\n${usage}`);
if (!isSite(site)) fail(`--site is the public address, https://… without a path.\n\n${usage}`);
if (!FRONT_DOORS.includes(kind)) fail(`--front-door is one of ${FRONT_DOORS.join(", ")}.`);
if (unknownKey) fail(`--replace ${unknownKey}: the keys are ${Object.keys(GENERATED).join(", ")}.`);

const root = fileURLToPath(new URL("../", import.meta.url));
const envPath = given["env-file"];
const file = isAbsolute(envPath) ? envPath : join(root, envPath);
const folder = join(root, ".local/deploy", project);
// The parent folder also contains the stack's books, which only their owner may read.
await Deno.mkdir(folder, { recursive: true, mode: 0o700 });

const values = await readSettings(file);
// The CLI's own variable.
const token = values.get("SUPABASE_ACCESS_TOKEN");
if (token && !Deno.env.has("SUPABASE_ACCESS_TOKEN")) Deno.env.set("SUPABASE_ACCESS_TOKEN", token);

const deployment: Deployment = {
  project,
  siteUrl: new URL(site).origin,
  values,
  envPath: file,
  root,
  folder,
  replace: given.replace,
  isDryRun: given["dry-run"],
  cli: createCli({ root, say: print, secrets: secretValues }),
  say: print,
};
print(`${deployment.isDryRun ? "Comparing" : "Deploying"} ${deployment.siteUrl} with project ${project}`);
const { ok, outcomes } = await deploy(deployment);
if (!ok) Deno.exit(1);
print(`${STEPS.length + 1}. Front door`);
for (const line of frontDoorLines(kind, deployment)) print(`  ${line}`);
print(
  outcomes.every((outcome) => outcome === "unchanged")
    ? "Everything was as it should be: nothing was changed."
    : deployment.isDryRun
    ? "Nothing was changed. Without --dry-run the steps marked “to be done” are run."
    : "Deployed.",
);
print(
  `Once ${deployment.siteUrl} leads to the front door, check all of it: ${
    taskCommand("selfcheck")
  } -- ${deployment.siteUrl} --functions ${
    functionsUrl(deployment)
  } --project ${project} --env-file ${envPath} --mail <your address>`,
);

/** All values except public ones, and the secret parts of addresses. */
function* secretValues(): Iterable<string> {
  for (const [name, value] of values) {
    if (/SECRET|KEY|TOKEN/.test(name)) yield* [value, ...value.split(",").map((entry) => entry.trim())];
    if (!/^(AUTH_)?MAIL_URL$|^DATABASE_URL$/.test(name) || !URL.canParse(value)) continue;
    const { password, host, protocol } = new URL(value);
    yield value;
    if (password) yield decodeURIComponent(password);
    if (protocol === "resend:") yield host;
  }
}

function isSite(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, search, hash, username } = new URL(text);
  const isLoopback = hostname === "localhost" || hostname === "127.0.0.1";
  return pathname === "/" && !search && !hash && !username &&
    (protocol === "https:" || (protocol === "http:" && isLoopback));
}
