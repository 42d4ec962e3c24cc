/** Extracts calls and string literals from SQL, in the forms that this project's sources use. */

/** A string, quoted as '…' or $name$…$name$. Bodies between bare $$ are treated as SQL. */
const STRING = /'(?:[^']|'')*'|(\$[a-z]+\$)[\s\S]*?\1/g;
const IS_SQL = /^\s*(select|with|insert|update|delete|create|grant|alter)\b/;

/** SQL without comments. */
export const withoutComments = (sql: string): string =>
  sql.replace(/('(?:[^']|'')*'|"[^"]*")|--.*|\/\*[\s\S]*?\*\//g, (_, string?: string) => string ?? "");

/** String contents; for strings that are SQL themselves, the strings inside. */
export const literalsIn = (sql: string): string[] =>
  [...sql.matchAll(STRING)].flatMap(([literal, dollar]) => {
    if (!dollar) return literal.slice(1, -1).replaceAll("''", "'");
    const text = literal.slice(dollar.length, -dollar.length);
    return IS_SQL.test(text) ? literalsIn(text) : text;
  });

/** The text between the parentheses of each call of a function; its definition, grants and comments do not count. */
export function callsOf(sql: string, name: string): string[] {
  const text = withoutComments(sql);
  const calls = text.matchAll(new RegExp(`(create or replace function )?\\b${name.replace(".", "\\.")}\\(`, "g"));
  return [...calls].filter(([, definition]) => !definition).map(({ index, 0: head }) => {
    const start = index + head.length;
    return text.slice(start, endOfList(text, start));
  });
}

/** The arguments of a call, trimmed. */
export function argumentsOf(list: string): string[] {
  const args: string[] = [];
  let start = 0;
  for (;;) {
    const end = endOfList(list, start, ",");
    args.push(list.slice(start, end).trim());
    if (end >= list.length) return args;
    start = end + 1;
  }
}

/** The end of a list that began before `from`: its closing bracket, or a top-level `stop`. */
function endOfList(text: string, from: number, stop = ")"): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    if (text[i] === "'") i = endOfString(text, i);
    else if (depth === 0 && text[i] === stop) return i;
    else if (text[i] === "(" || text[i] === "[") depth++;
    else if (text[i] === ")" || text[i] === "]") depth--;
  }
  return text.length;
}

function endOfString(text: string, from: number): number {
  let end = text.indexOf("'", from + 1);
  while (text[end + 1] === "'") end = text.indexOf("'", end + 2);
  return end;
}
