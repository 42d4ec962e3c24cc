/** What the small commands share: reading their command line, saying what is wrong with it, and naming themselves as the person started them. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

const DEFAULT_FOLDER = ".local";

/** The option that every command which talks to a running stack has. */
export const DATA_OPTION = { data: { type: "string", default: DEFAULT_FOLDER } } as const;

/** `deno task start …` to type, or the same through npx for whoever has no Deno of their own. */
export function taskCommand(task: string, ...args: string[]): string {
  // npx says so (npm 7 and later).
  const deno = Deno.env.get("npm_command") === "exec" ? `npx -y deno@${Deno.version.deno}` : "deno";
  return [deno, "task", task, ...args].join(" ");
}

/** `--data` for a command that is to find a stack on this folder; nothing where it looks anyway. */
export const dataArguments = (folder: string): string[] =>
  folder === DEFAULT_FOLDER ? [] : ["--data", /^[\w./-]+$/.test(folder) ? folder : `'${folder}'`];

export const print = (text: string, to: { writeSync(bytes: Uint8Array): number } = Deno.stdout): void =>
  void to.writeSync(new TextEncoder().encode(`${text}\n`));

export function fail(message: string): never {
  print(message, Deno.stderr);
  Deno.exit(1);
}

/** The command line, with `--` left out; `--help` prints the usage and ends, and so does an option that there is none of. */
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
