/** Tokenizes SQL and plpgsql, for formatting and comparing files, without a grammar. */

export type TokenKind = "word" | "quoted" | "string" | "number" | "comment" | "dollar" | "symbol";

export interface Token {
  kind: TokenKind;
  text: string;
  /** Line breaks before this token. */
  breaks: number;
  /** Whether there is white space before this token. */
  spaced: boolean;
}

const PATTERNS: [TokenKind, RegExp][] = [
  ["comment", /--[^\n]*|\/\*[^]*?\*\//y],
  ["string", /(?:[eE]'(?:[^'\\]|\\[^]|'')*'|(?:[bBxXnN]|[uU]&)?'(?:[^']|'')*')/y],
  ["quoted", /(?:[uU]&)?"(?:[^"]|"")*"/y],
  ["dollar", /\$(?:[A-Za-z_][A-Za-z_0-9]*)?\$/y],
  ["number", /(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y],
  // Placeholders of format(), %I and %1$L; their case matters.
  ["symbol", /%(?:\d+\$)?[ILs](?![A-Za-z_])/y],
  ["word", /[\p{L}_][\p{L}\p{N}_$]*|\$\d+/uy],
  ["symbol", /::|:=|=>|\.\.|<<|[-+*/<>=~!@#%^&|`?]+|[^\s]/y],
];

/**
 * Text between dollar quotes counts as code, as it does in all our files.
 *
 * @throws {Error} at an unclosed quote.
 */
export function tokensOf(sql: string): Token[] {
  const tokens: Token[] = [];
  const open: string[] = [];
  for (let at = 0; at < sql.length;) {
    const space = /\s*/y;
    space.lastIndex = at;
    const white = space.exec(sql)![0];
    at += white.length;
    if (at === sql.length) break;
    const breaks = white.split("\n").length - 1;
    const [kind, text] = readToken(sql, at);
    if (kind === "dollar" && open.at(-1) === text) open.pop();
    else if (kind === "dollar") open.push(text);
    tokens.push({ kind, text, breaks, spaced: white !== "" });
    at += text.length;
  }
  if (open.length > 0) throw new Error(`${open.at(-1)} is not closed`);
  return tokens;
}

function readToken(sql: string, at: number): [TokenKind, string] {
  for (const [kind, pattern] of PATTERNS) {
    pattern.lastIndex = at;
    const text = pattern.exec(sql)?.[0];
    if (text === undefined) continue;
    if (kind === "symbol" && (text === "'" || text === '"')) throw new Error(`${text} is not closed`);
    // An operator ends where a comment starts.
    const comment = kind === "symbol" ? text.search(/--|\/\*/) : -1;
    return [kind, comment > 0 ? text.slice(0, comment) : text];
  }
  throw new Error(`nothing of SQL: ${sql.slice(at, at + 20)}`);
}

/**
 * The tokens as a database reads them: words in lower case, without comments, successive literals joined per the
 * standard. Files with the same tokens differ only in layout.
 */
export function meaningOf(sql: string): string[] {
  const meaning: string[] = [];
  let last: Token | undefined;
  for (const token of tokensOf(sql)) {
    if (token.kind === "comment") continue;
    if (isPlain(token) && last && isPlain(last) && token.breaks > 0) {
      meaning.push(meaning.pop()!.slice(0, -1) + token.text.slice(1));
    } else meaning.push(token.kind === "word" ? token.text.toLowerCase() : token.text);
    last = token;
  }
  return meaning;
}

/** A literal without a prefix. */
const isPlain = ({ kind, text }: Token) => kind === "string" && text.startsWith("'");
