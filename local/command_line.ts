/** Helpers of the small commands: parsing, errors, and the invocation in help texts. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { parseEnvFile } from "./deploy/env_file.ts";

const DEFAULT_FOLDER = ".local";

/** The option of every command that talks to a running stack. */
export const DATA_OPTION = { data: { type: "string", default: DEFAULT_FOLDER } } as const;

/** The option of every command that reads a deployment's settings. */
export const ENV_FILE_OPTION = { "env-file": { type: "string", default: ".env" } } as const;

/** `deno task start …`, or the same through npx for people without Deno. */
export function taskCommand(task: string, ...args: string[]): string {
  // Set by npx (npm 7 and later).
  const deno = Deno.env.get("npm_command") === "exec" ? `npx -y deno@${Deno.version.deno}` : "deno";
  return [deno, "task", task, ...args].join(" ");
}

/** The `--data` option for a command on this folder; empty for the default folder. */
export const dataArguments = (folder: string): string[] =>
  folder === DEFAULT_FOLDER ? [] : ["--data", /^[\w./-]+$/.test(folder) ? folder : `'${folder}'`];

export const print = (text: string, to: { writeSync(bytes: Uint8Array): number } = Deno.stdout): void =>
  void to.writeSync(new TextEncoder().encode(`${text}\n`));

export function fail(message: string): never {
  print(message, Deno.stderr);
  Deno.exit(1);
}

/** Reads a settings file; ends the process if there is none. */
export async function readSettings(path: string): Promise<Map<string, string>> {
  const text = await Deno.readTextFile(path).catch(() =>
    fail(`There is no ${path}. Copy .env.example and fill it in.`)
  );
  try {
    return parseEnvFile(text);
  } catch (thrown) {
    fail(`${path}: ${(thrown as Error).message}`);
  }
}

/** The parsed command line, without `--`. For `--help` or an unknown option, prints the usage and exits. */
export function readCommandLine<Options extends ParseArgsOptionsConfig>(options: Options, usage: string) {
  const args = Deno.args.filter((arg) => arg !== "--");
  if (args.includes("--help")) {
    print(usage);
    Deno.exit(0);
  }
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (thrown) {
    fail(`${(thrown as Error).message}\n\n${usage}`);
  }
}
