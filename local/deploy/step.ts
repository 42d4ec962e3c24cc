/** Types and helpers of the deployment's steps. */
import { join } from "node:path";
import type { Cli, CliOptions } from "./cli.ts";

export { StepError } from "./cli.ts";

export interface Deployment {
  /** The project's reference. */
  project: string;
  /** The public address of the site, an origin. */
  siteUrl: string;
  /** The settings by name; a step adds the keys that it generates. */
  values: Map<string, string>;
  envPath: string;
  /** The checkout. */
  root: string;
  /** State that the next deployment reads; it contains no secrets. */
  folder: string;
  /** Names of keys that may be replaced. */
  replace: readonly string[];
  isDryRun: boolean;
  cli: Cli;
  say(line: string): void;
}

/** `planned`: a dry run found pending work. */
export type Outcome = "changed" | "unchanged" | "planned";

export interface Step {
  title: string;
  run(deployment: Deployment): Promise<Outcome>;
}

export const projectUrl = ({ project }: Deployment): string => `https://${project}.supabase.co`;
export const functionsUrl = (deployment: Deployment): string => `${projectUrl(deployment)}/functions/v1`;

/** Runs a command of the CLI; a dry run only shows it. */
export async function apply({ cli, isDryRun }: Deployment, args: string[], options?: CliOptions): Promise<Outcome> {
  if (isDryRun) {
    cli.show(args, "would run: $");
    return "planned";
  }
  await cli.run(args, options);
  return "changed";
}

/**
 * Like `run`, for a command that reads a file with secrets. Only the owner can read the file, and it is deleted
 * afterwards.
 */
export async function applyFile(
  deployment: Deployment,
  { name, text, args }: { name: string; text: string; args(path: string): string[] },
): Promise<Outcome> {
  if (deployment.isDryRun) return await apply(deployment, args(`<${name}>`));
  const folder = await Deno.makeTempDir({ prefix: "expense-deploy-" });
  try {
    const path = join(folder, name);
    await Deno.writeTextFile(path, text, { mode: 0o600 });
    return await apply(deployment, args(path));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
