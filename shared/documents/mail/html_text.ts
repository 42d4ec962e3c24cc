/** The words of HTML, one line per block and one tab per cell. It renders nothing. */

/** An element without visible text, from its start to its end. */
const UNSEEN = /<(script|style|head|title|template)\b[^<>]{0,2000}>/gi;
const TAG = /<(\/?)([a-z][a-z\d]{0,15})\b[^<>]{0,5000}>|<!--|<![^>]{0,200}>/gi;
const CELLS = new Set(["td", "th"]);
const BLOCKS = new Set(
  "address article blockquote br caption div dd dl dt footer h1 h2 h3 h4 h5 h6 header hr li main ol p pre section table tbody tfoot thead tr ul"
    .split(" "),
);
const NAMED: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  euro: "€",
  pound: "£",
};
/** A named entity of an accented letter: "eacute", "uuml". */
const ACCENTS: Record<string, string> = {
  ...{
    acute: "\u0301",
    grave: "\u0300",
    circ: "\u0302",
    uml: "\u0308",
    tilde: "\u0303",
    cedil: "\u0327",
    ring: "\u030a",
  },
};

export function textOfHtml(html: string): string {
  const seen = withoutUnseen(html);
  const parts: string[] = [];
  let from = 0;
  for (const match of seen.matchAll(TAG)) {
    if (match.index < from) continue;
    parts.push(seen.slice(from, match.index).replace(/\s+/g, " "));
    from = match.index + match[0].length;
    const name = match[2]?.toLowerCase() ?? "";
    if (match[0] === "<!--") {
      const end = seen.indexOf("-->", from);
      from = end < 0 ? seen.length : end + 3;
    } else if (BLOCKS.has(name)) parts.push("\n");
    else if (CELLS.has(name)) parts.push("\t");
  }
  parts.push(seen.slice(from).replace(/\s+/g, " "));
  return parts.join("").replace(/&(#x?[\da-f]{1,6}|[a-z]{2,8});/gi, (entity, name) => letterOf(name) ?? entity);
}

function withoutUnseen(html: string): string {
  const parts: string[] = [];
  const lower = html.toLowerCase();
  let from = 0;
  for (const match of html.matchAll(UNSEEN)) {
    if (match.index < from) continue;
    parts.push(html.slice(from, match.index));
    const end = lower.indexOf(`</${match[1]!.toLowerCase()}`, match.index);
    from = end < 0 ? html.length : end;
  }
  parts.push(html.slice(from));
  return parts.join("");
}

function letterOf(name: string): string | undefined {
  if (name.startsWith("#")) {
    const code = /^#x/i.test(name) ? parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
  }
  const [, letter, accent] = /^([a-z])(acute|grave|circ|uml|tilde|cedil|ring)$/i.exec(name) ?? [];
  if (letter) return (letter + ACCENTS[accent!.toLowerCase()]!).normalize("NFC");
  return name === "szlig" ? "ß" : Object.hasOwn(NAMED, name.toLowerCase()) ? NAMED[name.toLowerCase()] : undefined;
}
