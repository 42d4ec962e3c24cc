/** Prints a conversation for a person; in color only on a terminal that supports it. */

const isColoured = Deno.stdout.isTerminal() && !Deno.noColor;
const style = (code: number) => (text: string) => isColoured ? `\x1b[${code}m${text}\x1b[0m` : text;
const bold = style(1);
const dim = style(2);

const write = (text: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));

export function say(text = ""): void {
  write(text);
}

export function you(text: string): void {
  write(`\n${bold("You:")} ${text}`);
}

export function toolCall(name: string, args: Record<string, unknown>): void {
  write(dim(`  ${name} ${JSON.stringify(args)}`));
}

/** The first line follows the name; others are indented below it. */
export function assistant(text: string): void {
  const [first, ...rest] = text.split("\n");
  write([`${bold("Assistant:")} ${first}`, ...rest.map((line) => `  ${line}`)].join("\n"));
}
