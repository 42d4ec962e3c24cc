/** The schema: the pending migrations, without the demo data. */
import { splitPassword } from "../database_url.ts";
import { type Deployment, type Step } from "./step.ts";

export const schema: Step = {
  title: "Database",
  async run(deployment) {
    const { cli, isDryRun } = deployment;
    const { target, env } = databaseOf(deployment);
    // Without the vault: the CLI fills it only while a migration is pending.
    const args = ["db", "push", `--remote=${target}`, "--skip-vault", ...(isDryRun ? ["--dry-run"] : ["--yes"])];
    const { output } = await cli.run(args, { env });
    const isPending = /Applying migration|Would push these migrations/.test(output);
    return !isPending ? "unchanged" : isDryRun ? "planned" : "changed";
  },
};

/** The project's own connection, or the one of `DATABASE_URL`. */
function databaseOf({ project, values }: Deployment): { target: string; env: Record<string, string> } {
  const given = values.get("DATABASE_URL");
  return given ? splitPassword(given) : { target: project, env: {} };
}
