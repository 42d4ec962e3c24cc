/**
 * Formats SQL files, including function bodies. Like gofmt, it keeps line breaks and controls everything else: lower
 * case, spaces, indentation of closing parentheses, blank lines. It compares the tokens before and after, so only the
 * layout changes.
 */
import { meaningOf, type Token, tokensOf } from "./tokens.ts";

export const WIDTH = 120;
const STEP = 2;

/** @throws {Error} when the text is not SQL, or when formatting would change its meaning. */
export function formatSql(sql: string): string {
  const lines = closeWhereOpened(linesOf(sql));
  const formatted = lines.map(({ indent, tokens, blankBefore }, index) =>
    `${blankBefore && index > 0 ? "\n" : ""}${" ".repeat(indent)}${written(tokens).trimEnd()}\n`
  ).join("");
  const [before, after] = [meaningOf(sql), meaningOf(formatted)];
  const differs = before.findIndex((token, index) => token !== after[index]);
  if (differs >= 0 || before.length !== after.length) {
    throw new Error(`formatting would change the meaning, at ${before.slice(differs, differs + 5).join(" ")}`);
  }
  return formatted;
}

interface Line {
  indent: number;
  tokens: Token[];
  blankBefore: boolean;
}

function linesOf(sql: string): Line[] {
  const lines: Line[] = [];
  let end = 0;
  for (const token of tokensOf(sql)) {
    const at = sql.indexOf(token.text, end);
    end = at + token.text.length;
    if (token.breaks > 0 || lines.length === 0) {
      const column = at - (sql.lastIndexOf("\n", at - 1) + 1);
      lines.push({ indent: Math.round(column / STEP) * STEP, tokens: [], blankBefore: token.breaks > 1 });
    }
    lines.at(-1)!.tokens.push(token.kind === "word" ? { ...token, text: token.text.toLowerCase() } : token);
  }
  return lines;
}

/** Aligns a line that starts with a closing parenthesis with the line of the opening one. */
function closeWhereOpened(lines: Line[]): Line[] {
  const open: number[] = [];
  for (const line of lines) {
    line.tokens.forEach(({ kind, text }, index) => {
      if (kind !== "symbol") return;
      if (text === "(" || text === "[") open.push(line.indent);
      if (text !== ")" && text !== "]") return;
      const indent = open.pop();
      if (index === 0 && indent !== undefined) line.indent = indent;
    });
  }
  return lines;
}

const written = (tokens: Token[]): string =>
  tokens.map((token, index) => (index > 0 && needsSpace(tokens[index - 1]!, token) ? " " : "") + token.text).join("");

function needsSpace(before: Token, token: Token): boolean {
  if (isSymbol(token, ",;)]") || isSymbol(before, "([")) return false;
  return isSymbol(before, ",") || token.spaced;
}

const isSymbol = ({ kind, text }: Token, of: string) => kind === "symbol" && of.includes(text);

/** Numbers of the lines that need a manual line break. */
export function tooWide(formatted: string): number[] {
  return formatted.split("\n").flatMap((line, index) => line.length > WIDTH ? [index + 1] : []);
}
