/** The schema: the pending migrations, without the demo data. A newer schema than this checkout's is left as it is. */
import { splitPassword } from "../database_url.ts";
import { type Deployment, type Step } from "./step.ts";
import { StepError } from "./step_error.ts";

export const schema: Step = {
  title: "Database",
  async run(deployment) {
    const { cli, isDryRun, say } = deployment;
    const { target, env } = databaseOf(deployment);
    // Without the vault: the CLI fills it only while a migration is pending.
    const args = ["db", "push", `--remote=${target}`, "--skip-vault", ...(isDryRun ? ["--dry-run"] : ["--yes"])];
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

/** The project's own address has only IPv6, which most networks of offices and CI lack. */
function nameDatabaseUrl(thrown: unknown): never {
  if (!(thrown instanceof StepError && thrown.message.includes("IPv6"))) throw thrown;
  throw new StepError(
    `${thrown.message.replace(/\.?$/, ".")} Set DATABASE_URL to the session pooler's address, which has IPv4: in the ` +
      "dashboard, Connect, Session pooler.",
  );
}

/** Versions, empty where a side lacks it. */
interface Migration {
  local: string;
  remote: string;
}

/** Whether the database has all migrations of this checkout, and beside them only later ones. */
function isOnlyNewer(migrations: readonly Migration[]): boolean {
  const last = Math.max(...migrations.map(({ local }) => Number(local)));
  return migrations.every(({ local, remote }) => remote !== "" && (local !== "" || Number(remote) > last));
}

/** The project's own connection, or the one of `DATABASE_URL`. */
function databaseOf({ project, values }: Deployment): { target: string; env: Record<string, string> } {
  const given = values.get("DATABASE_URL");
  return given ? splitPassword(given) : { target: project, env: {} };
}
