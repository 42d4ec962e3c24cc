/**
 * Runs the version of the Supabase CLI that the tests use, and prints every command first. Secrets travel in the
 * environment and in files that only their owner can read, and are masked in the output.
 */
export const CLI_VERSION = "3.1.0";

/** Stops a deployment. The message names the remedy and contains no setting's value. */
export class StepError extends Error {
  override readonly name = "StepError";
}

export interface CliOptions {
  /** Variables in addition to the process's own. */
  env?: Record<string, string>;
}

export interface Cli {
  /** The command's JSON output and both of its streams. @throws {StepError} when it fails. */
  run(args: string[], options?: CliOptions): Promise<{ answer: unknown; output: string }>;
  /** Shows a command without running it. */
  show(args: string[], prefix?: string): void;
}

interface CliSettings {
  root: string;
  say(line: string): void;
  /** All values that the output must not contain. */
  secrets(): Iterable<string>;
}

const COMMON = ["--agent", "no", "--output-format", "json"];

export function createCli({ root, say, secrets }: CliSettings): Cli {
  const show = (args: string[], prefix = "$") =>
    say(`  ${prefix} supabase ${mask(args.map(quoted).join(" "), secrets())}`);
  return {
    show,
    async run(args, { env = {} } = {}) {
      show(args);
      const output = await new Deno.Command(Deno.build.os === "windows" ? "npx.cmd" : "npx", {
        args: ["-y", `supabase@${CLI_VERSION}`, ...args, ...COMMON],
        cwd: root,
        env: { SUPABASE_TELEMETRY_DISABLED: "1", NO_COLOR: "1", npm_config_loglevel: "error", ...env },
        stdin: "null",
      }).output().catch(() => {
        throw new StepError("npx does not start: install Node 18 or newer.");
      });
      const [stdout, stderr] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
      if (!output.success) throw new StepError(mask(reasonOf(stdout!, stderr!), secrets()));
      return { answer: parseAnswer(stdout!), output: stdout! + stderr! };
    },
  };
}

/** The text without any of these values, plain or percent-encoded. */
export function mask(text: string, secrets: Iterable<string>): string {
  const values = [...secrets].flatMap((secret) => [secret, encodeURIComponent(secret)])
    .filter((value) => value.length >= 6)
    .toSorted((one, other) => other.length - one.length);
  return values.reduce((masked, value) => masked.replaceAll(value, "•••"), text);
}

const quoted = (arg: string) => /^[\w./:=@,-]+$/.test(arg) ? arg : `"${arg}"`;

function parseAnswer(stdout: string): unknown {
  try {
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** The CLI's error message, from its JSON output if there is one. */
function reasonOf(stdout: string, stderr: string): string {
  const { error } = (parseAnswer(stdout.trim().split("\n").at(-1) ?? "") ?? {}) as { error?: { message?: string } };
  const lines = stderr.trim().split("\n").filter((line) => !/^(Target:|Confirmed by|Try rerunning)/.test(line));
  return error?.message ?? (lines.slice(-3).join(" ").trim() || "the command failed without a reason");
}
