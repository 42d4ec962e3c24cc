/**
 * The vault, from which the schedule takes the address and the secret. It is read back by a function that answers true
 * or false, and filled whenever it differs: also when no migration is pending.
 */
import { listOf } from "./settings.ts";
import { withSecretFile } from "./secret_file.ts";
import { sha256 } from "./secrets.ts";
import { type Deployment, projectUrl, type Step } from "./step.ts";
import { StepError } from "./step_error.ts";

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

export const vault: Step = {
  title: "Vault of the schedule",
  async run(deployment) {
    const { cli, values, isDryRun, project } = deployment;
    const secret = values.get("CRON_SECRET")!;
    const fill = (path: string) => ["db", "query", `--remote=${project}`, "--yes", "--file", path];
    const isFilled = await matches(deployment, secret).catch((thrown) => {
      // Before the first push there is nothing to ask.
      if (isDryRun && /does not exist/.test((thrown as Error).message)) return false;
      throw thrown;
    });
    if (isFilled) return "unchanged";
    if (isDryRun) {
      cli.show(fill("<select jobs.fill_vault(…)>"), "would run: $");
      return "planned";
    }
    const sql = `select jobs.fill_vault(${literal(projectUrl(deployment))}, ${literal(secret)});\n`;
    await withSecretFile("fill_vault.sql", sql, (path) => cli.run(fill(path)));
    if (!await matches(deployment, secret)) throw new StepError("The vault did not keep what was stored in it.");
    return "changed";
  },
};

/** Whether the vault holds what it should. Asks with a digest. */
async function matches(deployment: Deployment, secret: string): Promise<boolean> {
  const sql = `select jobs.vault_matches(${literal(projectUrl(deployment))}, array[${
    literal(sha256(listOf(secret)[0]!))
  }]) as answer`;
  const { answer } = await deployment.cli.run(["db", "query", `--remote=${deployment.project}`, "--read-only", sql]);
  const [row] = answer as [{ answer: { project_url: boolean; cron_secret: boolean } }];
  return row.answer.project_url && row.answer.cron_secret;
}
