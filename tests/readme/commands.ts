/** The commands of the README, in its code blocks and sentences. */

/** The first words of our commands, and of other commands in the README. */
const PROGRAM = /^(npx|npm|deno|task|claude|code|docker|git|curl|cp|export|\.ci\/run)(?= |$)/;

export interface Readme {
  text: string;
  /** Without comments, in order, each once. */
  commands: string[];
  /** JSON for the settings of a client. */
  settings: unknown[];
}

export async function readReadme(): Promise<Readme> {
  return parseReadme(await Deno.readTextFile(new URL("../../README.md", import.meta.url)));
}

export function parseReadme(text: string): Readme {
  const blocks = [...text.matchAll(/^```\w*\n([^]*?)^```$/gm)].flatMap(([, block]) => block!.split("\n"));
  const inline = [...text.replaceAll(/^```[^]*?^```$/gm, "").matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
  const commands = [...blocks, ...inline.filter((code) => PROGRAM.test(code))]
    .map((line) => line.replace(/ +# .*$/, "").replaceAll(/\s+/g, " ").trim());
  return {
    text,
    commands: [...new Set(commands.filter(Boolean))],
    settings: inline.filter((code) => code.startsWith("{")).map((code) => JSON.parse(code)),
  };
}

/** The only command with a package name: the command as typed, and the package with its version. */
export async function readmeCommand(name: string): Promise<{ spec: string; args: string[] }> {
  const { commands } = await readReadme();
  const [program, yes, spec, ...args] = commands.find((command) => command.includes(` ${name}@`))?.split(" ") ?? [];
  if (program !== "npx" || yes !== "-y") throw new Error(`The README has no command that runs ${name}`);
  return { spec: spec!, args };
}
