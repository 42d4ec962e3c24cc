/** The steps that run a command when the project differs from this checkout. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { splitPassword } from "../database_url.ts";
import { ARE_PLANS_UNDECIDED, SELL_PLANS } from "../plans/switch_plans.ts";
import { sha256 } from "./secrets.ts";
import { listOf } from "./settings.ts";
import { apply, applyFile, type Deployment, projectUrl, type Step, StepError } from "./step.ts";

/** Links the checkout, so that manual CLI commands reach the same project. An invalid token fails here, early. */
export const link: Step = {
  title: "Link",
  async run(deployment) {
    const linked = await Deno.readTextFile(join(deployment.root, "supabase/.temp/project-ref")).catch(() => "");
    if (linked.trim() === deployment.project) return "unchanged";
    return await apply(deployment, ["link", "--project-ref", deployment.project]);
  },
};

/** Pushes the pending migrations, without demo data. A schema newer than this checkout's remains. */
export const schema: Step = {
  title: "Database",
  async run({ cli, isDryRun, say, project, values }) {
    const url = values.get("DATABASE_URL");
    const { target, env } = url ? splitPassword(url) : { target: project, env: {} };
    // Omits the vault, which the CLI fills only with a pending migration.
    const args = ["db", "push", `--remote=${target}`, "--skip-vault", isDryRun ? "--dry-run" : "--yes"];
    try {
      const { output } = await cli.run(args, { env }).catch(nameDatabaseUrl);
      const isPending = /Applying migration|Would push these migrations/.test(output);
      return !isPending ? "unchanged" : isDryRun ? "planned" : "changed";
    } catch (thrown) {
      if (!(thrown instanceof StepError && /^Remote migration versions not found/.test(thrown.message))) throw thrown;
      const { answer } = await cli.run(["migration", "list", `--remote=${target}`], { env });
      if (!isOnlyNewer((answer as { migrations: Migration[] }).migrations)) throw thrown;
      say("  The database is newer than this checkout; its schema was left as it is.");
      return "unchanged";
    }
  },
};

/** The project's own address has only IPv6, which most office and CI networks lack. */
function nameDatabaseUrl(thrown: unknown): never {
  if (!(thrown instanceof StepError && thrown.message.includes("IPv6"))) throw thrown;
  throw new StepError(
    `${thrown.message.replace(/\.?$/, ".")} Set DATABASE_URL to the session pooler's address, which has IPv4: in the ` +
      "dashboard, Connect, Session pooler.",
  );
}

/** Versions of both sides; empty where one is missing. */
interface Migration {
  local: string;
  remote: string;
}

/** Whether the database has all migrations of this checkout. It may have later ones too. */
function isOnlyNewer(migrations: readonly Migration[]): boolean {
  const last = Math.max(...migrations.map(({ local }) => Number(local)));
  return migrations.every(({ local, remote }) => remote !== "" && (local !== "" || Number(remote) > last));
}

/** Updates the vault if it differs, because the schedule reads the URL and secret there. */
export const vault: Step = {
  title: "Vault of the schedule",
  async run(deployment) {
    const secret = deployment.values.get("CRON_SECRET")!;
    const url = literal(projectUrl(deployment));
    // Compares by digest in the database, because the query is part of a command line.
    const matching = `select jobs.vault_matches(${url}, array[${literal(sha256(listOf(secret)[0]!))}]) as answer`;
    const isFilled = async () => {
      const answer = await ask<{ project_url: boolean; cron_secret: boolean }>(deployment, matching);
      return answer?.project_url && answer.cron_secret;
    };
    if (await isFilled()) return "unchanged";
    const outcome = await applyFile(deployment, {
      name: "fill_vault.sql",
      text: `select jobs.fill_vault(${url}, ${literal(secret)});\n`,
      args: (path) => ["db", "query", `--remote=${deployment.project}`, "--yes", "--file", path],
    });
    if (outcome === "changed" && !await isFilled()) {
      throw new StepError("The vault did not keep what was stored in it.");
    }
    return outcome;
  },
};

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Turns plans on once a checkout is configured, unless the operator has turned them off. */
export const plans: Step = {
  title: "Plans",
  async run(deployment) {
    if (!deployment.values.has("CHECKOUT_URL")) return "unchanged";
    if (await ask(deployment, ARE_PLANS_UNDECIDED) === false) return "unchanged";
    return await apply(deployment, ["db", "query", `--remote=${deployment.project}`, "--yes", SELL_PLANS]);
  },
};

async function ask<Answer>({ cli, project, isDryRun }: Deployment, sql: string): Promise<Answer | undefined> {
  try {
    const { answer } = await cli.run(["db", "query", `--remote=${project}`, "--read-only", sql]);
    return (answer as [{ answer: Answer }])[0].answer;
  } catch (thrown) {
    if (isDryRun && /does not exist/.test((thrown as Error).message)) return undefined;
    throw thrown;
  }
}

/** Uploads the functions if their source has changed, or if the project runs versions from elsewhere. */
export const functions: Step = {
  title: "Functions",
  async run(deployment) {
    const record = join(deployment.folder, "functions.json");
    const source = await digestOf(deployment.root);
    const stateOf = async () => JSON.stringify({ source, versions: await versionsOf(deployment) });
    if (await Deno.readTextFile(record).catch(() => "") === await stateOf()) return "unchanged";
    // The platform bundles the functions, so Docker isn't needed.
    const args = ["functions", "deploy", "--use-api", `--remote=${deployment.project}`, "--yes"];
    const outcome = await apply(deployment, args);
    if (outcome === "changed") await Deno.writeTextFile(record, await stateOf());
    return outcome;
  },
};

/** The platform's versions of the functions, by slug. */
async function versionsOf({ cli, project }: Deployment): Promise<Record<string, number>> {
  const { answer } = await cli.run(["functions", "list", `--remote=${project}`]);
  const { functions } = answer as { functions: { slug: string; version: number }[] };
  return Object.fromEntries(functions.map(({ slug, version }) => [slug, version] as const).toSorted());
}

/** A digest of everything that is uploaded. */
async function digestOf(root: string): Promise<string> {
  const hash = createHash("sha256");
  const add = async (name: string): Promise<void> => {
    const path = join(root, name);
    if ((await Deno.stat(path)).isDirectory) {
      const names = await Array.fromAsync(Deno.readDir(path), (entry) => entry.name);
      for (const entry of names.toSorted()) await add(`${name}/${entry}`);
    } else hash.update(`${name}\0`).update(await Deno.readFile(path)).update("\0");
  };
  for (const part of ["functions", "import_map.json", "shared", "supabase/config.toml"]) await add(part);
  return hash.digest("hex");
}
