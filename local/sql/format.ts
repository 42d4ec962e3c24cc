/**
 * Formats SQL files, including function bodies. Like gofmt it keeps existing line breaks and controls the rest: lower
 * case, spaces, indentation of closing parentheses, blank lines, and lines of at most 120 columns. Only the layout
 * changes: the tokens before and after are compared.
 */
import { isPlain, meaningOf, type Token, tokensOf } from "./tokens.ts";

export const WIDTH = 120;
const STEP = 2;

/** @throws {Error} when the text is not SQL, or when formatting would change its meaning. */
export function formatSql(sql: string): string {
  let formatted = layOut(sql);
  // A later parenthesis may be aligned with a line that was broken.
  for (let again = layOut(formatted); again !== formatted; again = layOut(formatted)) formatted = again;
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

function layOut(sql: string): string {
  const lines = closeWhereOpened(linesOf(sql));
  const output: string[] = [];
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!;
    if (line.blankBefore && output.length > 0) output.push("");
    let next = index + 1;
    if (isComment(line)) {
      while (next < lines.length && continuesComment(line, lines[next]!)) next += 1;
      output.push(...reflow(lines.slice(index, next)));
    } else output.push(...fit(line));
    index = next;
  }
  return `${output.join("\n")}\n`;
}

function linesOf(sql: string): Line[] {
  const lines: Line[] = [];
  let end = 0;
  for (const token of tokensOf(sql)) {
    const at = sql.indexOf(token.text, end);
    end = at + token.text.length;
    const [before, ...others] = lines.at(-1)?.tokens ?? [];
    if (before && others.length === 0 && token.breaks === 1 && isProse(before) && isPlain(token)) {
      before.text = before.text.slice(0, -1) + token.text.slice(1);
      continue;
    }
    if (token.breaks > 0 || lines.length === 0) {
      const column = at - (sql.lastIndexOf("\n", at - 1) + 1);
      lines.push({ indent: Math.round(column / STEP) * STEP, tokens: [], blankBefore: token.breaks > 1 });
    }
    lines.at(-1)!.tokens.push(token.kind === "word" ? { ...token, text: token.text.toLowerCase() } : token);
  }
  return lines;
}

/** A literal that the one on the next line continues after a space: they are refilled together. */
const isProse = (token: Token) => isPlain(token) && token.text.endsWith(" '") && !token.text.includes("\n");

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

// Comments

const isComment = ({ tokens: [token] }: Line) => token!.kind === "comment" && token!.text.startsWith("--");

const continuesComment = (first: Line, line: Line) =>
  isComment(line) && line.indent === first.indent && !line.blankBefore;

/** Keeps the lines of a comment unless one is too long; then its paragraphs are refilled. */
function reflow(lines: Line[]): string[] {
  const margin = " ".repeat(lines[0]!.indent);
  const texts = lines.map(({ tokens }) => tokens[0]!.text.trimEnd());
  if (texts.every((text) => margin.length + text.length <= WIDTH)) return texts.map((text) => margin + text);
  const filled: string[] = [];
  let line = `${margin}--`;
  texts.forEach((text, index) => {
    // A line that ends a sentence ends a paragraph.
    if (index > 0 && /[.:]$/.test(texts[index - 1]!)) {
      filled.push(line);
      line = `${margin}--`;
    }
    for (const word of text.slice(2).trim().split(/\s+/)) {
      if (line.length + 1 + word.length > WIDTH && !line.endsWith("--")) {
        filled.push(line);
        line = `${margin}--`;
      }
      line += ` ${word}`;
    }
  });
  return [...filled, line];
}

// Code

/** One line as it is, or several, broken at the weakest boundary. */
function fit(line: Line): string[] {
  const last = line.tokens.at(-1)!;
  if (last.kind === "comment" && line.tokens.length > 1 && line.indent + written(line.tokens).length > WIDTH) {
    const above = { ...line, tokens: [last] };
    return [...reflow([above]), ...fit({ ...line, tokens: line.tokens.slice(0, -1) })];
  }
  const lines: string[] = [];
  let { indent, tokens } = line;
  while (indent + firstRow(written(tokens)).length > WIDTH) {
    const at = bestBreak(tokens, WIDTH - indent);
    if (at === undefined) break;
    lines.push(" ".repeat(indent) + written(tokens.slice(0, at)));
    // The continuation of a list item stays under it.
    const isList = isSymbol(tokens[at - 1]!, ",") && !STARTS.test(line.tokens[0]!.text) && depthOf(tokens, at) === 0;
    tokens = tokens.slice(at);
    if (!isList) indent = line.indent + STEP;
  }
  return [...lines, ...splitLiteral(tokens, indent)];
}

const firstRow = (text: string) => text.split("\n", 1)[0]!;

function written(tokens: Token[]): string {
  return tokens.map((token, index) => (index > 0 && needsSpace(tokens[index - 1]!, token) ? " " : "") + token.text)
    .join(
      "",
    );
}

function needsSpace(before: Token, token: Token): boolean {
  if (isSymbol(token, ",;)]") || isSymbol(before, "([")) return false;
  return isSymbol(before, ",") || token.spaced;
}

const isSymbol = ({ kind, text }: Token, of: string) => kind === "symbol" && of.includes(text);

const CLAUSES =
  /^(from|where|join|left|right|full|cross|inner|group|order|having|union|limit|returning|values|references|check|then|else|when|loop|security|language|to|returns|set)$/;
/** Tokens that do not start a list. */
const STARTS =
  /^(select|from|where|group|order|returning|set|values|return|create|grant|revoke|insert|update|declare|perform|if|with|raise|case|when|then|else|and|or|on|comment|alter)$/;
/** Tokens that no line may end with. */
const NEVER_LAST =
  /^(not|return|perform|insert|create|function|cross|left|right|full|inner|outer|order|group|is|for|if|elsif|as|distinct|set|on|lateral|replace|or|and|in|exists|from|join|into|table|to|by)$/;
const NESTING = 4;

/** Nesting depth of a token in parentheses and cases, relative to the first one. */
function depthOf(tokens: Token[], at: number): number {
  let depth = 0;
  for (const token of tokens.slice(0, at)) {
    if (isSymbol(token, "([") || isWord(token, /^case$/)) depth += 1;
    if (isSymbol(token, ")]") || isWord(token, /^end$/)) depth -= 1;
  }
  const token = tokens[at];
  return token && (isSymbol(token, ")]") || isWord(token, /^end$/)) ? depth - 1 : depth;
}

const isWord = ({ kind, text }: Token, of: RegExp) => kind === "word" && of.test(text);

/** The best token to start a new line with, such that what precedes it fits; the last of equals. */
function bestBreak(tokens: Token[], width: number): number | undefined {
  let betweens = 0;
  let best: { at: number; cost: number } | undefined;
  for (let at = 1; at < tokens.length && written(tokens.slice(0, at)).length <= width; at++) {
    const token = tokens[at]!;
    if (isWord(tokens[at - 1]!, /^between$/)) betweens += 1;
    const cost = costOf(tokens[at - 1]!, token, betweens > 0) + NESTING * Math.max(depthOf(tokens, at), 0);
    if (cost < Infinity && cost <= (best?.cost ?? Infinity)) best = { at, cost };
    if (isWord(token, /^and$/) && betweens > 0) betweens -= 1;
  }
  return best?.at;
}

/** How strongly two tokens belong together; nesting outweighs everything else. */
function costOf(before: Token, token: Token, isBetween: boolean): number {
  if (before.kind === "word" && before.text === "is" && token.kind === "string") return 0;
  if (!token.spaced && !isSymbol(before, ",(") || isSymbol(token, ",;)]") || token.kind === "comment") return Infinity;
  if (isWord(before, NEVER_LAST)) return Infinity;
  if (isWord(token, /^(and|or)$/)) return isBetween ? Infinity : 1.25;
  if (isWord(token, /^constraint$/)) return 0.5;
  if (isWord(token, CLAUSES)) return 1;
  if (isSymbol(before, ",")) return 1.25;
  if (isWord(token, /^(on|using|for|as)$/)) return 3;
  if (token.kind === "symbol" && /^(\|\||[-+*/]|=|<>)$/.test(token.text)) return 2;
  if (isSymbol(before, "(") || before.kind === "symbol" && before.text === ":=") return 3;
  return token.kind === "symbol" || before.kind === "symbol" ? Infinity : 5;
}

/** Splits a long literal into several on successive lines, which SQL reads as one. */
function splitLiteral(tokens: Token[], indent: number): string[] {
  const margin = " ".repeat(indent);
  const text = written(tokens);
  const [first, ...rest] = tokens;
  if (margin.length + text.length <= WIDTH || !isPlain(first!) || first!.text.includes("\n")) return [margin + text];
  const tail = rest.length > 0 ? (needsSpace(first!, rest[0]!) ? " " : "") + written(rest) : "";
  const words = first!.text.slice(1, -1).split(/(?<= )|(?=\\)/);
  const lines: string[] = [];
  let piece = "";
  words.forEach((word, index) => {
    const after = index === words.length - 1 ? tail.length : 0;
    if (piece !== "" && margin.length + piece.length + word.length + 2 + after > WIDTH) {
      lines.push(`${margin}'${piece}'`);
      piece = "";
    }
    piece += word;
  });
  return [...lines, `${margin}'${piece}'${tail}`];
}

/** Line numbers that are still too wide because of a single word. */
export function tooWide(formatted: string): number[] {
  return formatted.split("\n").flatMap((line, index) => line.length > WIDTH ? [index + 1] : []);
}
