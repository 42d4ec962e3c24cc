/** The schema: the pending migrations, without the demo data. */
import { type Deployment, type Step } from "./step.ts";
import { StepError } from "./step_error.ts";

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

/** The project's own connection, or the one of `DATABASE_URL` without its password, which goes by the environment. */
function databaseOf({ project, values }: Deployment): { target: string; env: Record<string, string> } {
  const given = values.get("DATABASE_URL");
  if (!given) return { target: project, env: {} };
  if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(given)) {
    throw new StepError("DATABASE_URL is not postgresql://…: copy the session pooler's address from the dashboard.");
  }
  const url = new URL(given);
  const password = decodeURIComponent(url.password);
  url.password = "";
  return { target: url.href, env: password ? { PGPASSWORD: password } : {} };
}
