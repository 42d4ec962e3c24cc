/** What the steps of a deployment share. */
import type { Cli } from "./cli.ts";

export interface Deployment {
  /** The project's reference. */
  project: string;
  /** The public address of the site, an origin. */
  siteUrl: string;
  /** The settings, by name; a step adds the keys that it makes. */
  values: Map<string, string>;
  envPath: string;
  /** The checkout. */
  root: string;
  /** Where a deployment keeps what it needs to know the next time; nothing secret. */
  folder: string;
  /** Keys that may be replaced by others. */
  replace: readonly string[];
  isDryRun: boolean;
  cli: Cli;
  say(line: string): void;
}

/** `unchanged`: everything was as it should be. `planned`: a dry run found something to do. */
export type Outcome = "changed" | "unchanged" | "planned";

export interface Step {
  title: string;
  run(deployment: Deployment): Promise<Outcome>;
}

export const projectUrl = ({ project }: Deployment): string => `https://${project}.supabase.co`;
export const functionsUrl = (deployment: Deployment): string => `${projectUrl(deployment)}/functions/v1`;
