/** Prints a conversation for a person; in color only on a terminal that supports it. */
import { print } from "../command_line.ts";

const isColoured = Deno.stdout.isTerminal() && !Deno.noColor;
const style = (code: number) => (text: string) => isColoured ? `\x1b[${code}m${text}\x1b[0m` : text;
const bold = style(1);
const dim = style(2);

export function you(text: string): void {
  print(`\n${bold("You:")} ${text}`);
}

export function toolCall(name: string, args: Record<string, unknown>): void {
  print(dim(`  ${name} ${JSON.stringify(args)}`));
}

/** The first line follows the name; others are indented below it. */
export function assistant(text: string): void {
  const [first, ...rest] = text.split("\n");
  print([`${bold("Assistant:")} ${first}`, ...rest.map((line) => `  ${line}`)].join("\n"));
}
