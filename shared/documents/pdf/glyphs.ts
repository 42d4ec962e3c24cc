/** The letters behind bytes and glyph names, in fonts without their own table. */

const ASCII =
  "space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen " +
  "period slash zero one two three four five six seven eight nine colon semicolon less equal greater question at " +
  "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave " +
  "a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde";
const OTHERS: Record<string, string> = {
  ...{ Euro: "€", sterling: "£", yen: "¥", cent: "¢", degree: "°", section: "§", paragraph: "¶", bullet: "•" },
  ...{ endash: "–", emdash: "—", minus: "−", quoteleft: "‘", quoteright: "’", quotedblleft: "“", quotedblright: "”" },
  ...{ quotedblbase: "„", quotesinglbase: "‚", guillemotleft: "«", guillemotright: "»", periodcentered: "·" },
  ...{ germandbls: "ß", ae: "æ", AE: "Æ", oe: "œ", OE: "Œ", oslash: "ø", Oslash: "Ø", lslash: "ł", Lslash: "Ł" },
  ...{ fi: "fi", fl: "fl", ff: "ff", ffi: "ffi", ffl: "ffl", f_i: "fi", f_l: "fl", f_f: "ff", dotlessi: "ı" },
  ...{ ellipsis: "…", ordfeminine: "ª", ordmasculine: "º", nbspace: " ", exclamdown: "¡", questiondown: "¿" },
  ...{ copyright: "©", registered: "®", trademark: "™", multiply: "×", plusminus: "±", perthousand: "‰", mu: "µ" },
};
const NAMED = new Map([
  ...ASCII.split(" ").map((name, i): [string, string] => [name, String.fromCharCode(32 + i)]),
  ...Object.entries(OTHERS),
]);
const MARKS: Record<string, string> = {
  ...{ acute: "\u0301", grave: "\u0300", circumflex: "\u0302", dieresis: "\u0308", tilde: "\u0303", caron: "\u030c" },
  ...{ cedilla: "\u0327", ring: "\u030a", ogonek: "\u0328", macron: "\u0304", breve: "\u0306", dotaccent: "\u0307" },
  ...{ hungarumlaut: "\u030b" },
};
const ACCENTED = new RegExp(`^([A-Za-z])(${Object.keys(MARKS).join("|")})$`);

/** Stands for an unreadable letter. */
export const LOST = "\ufffd";

/** @returns the letter of a glyph's name (Adobe Glyph List), or LOST for an unknown name */
export function letterOfGlyph(name: string): string {
  const plain = name.split(".")[0]!;
  const known = NAMED.get(plain);
  if (known !== undefined) return known;
  const [, letter, mark] = ACCENTED.exec(plain) ?? [];
  if (letter) return (letter + MARKS[mark!]!).normalize("NFC");
  const code = parseInt(/^(?:uni|u)([\dA-F]{4,6})$/.exec(plain)?.[1] ?? "0", 16);
  return code > 0x1f && code <= 0x10ffff ? String.fromCodePoint(code) : LOST;
}

const decoded = (encoding: string) => {
  const decoder = new TextDecoder(encoding);
  return Array.from({ length: 256 }, (_, byte) => byte < 32 ? LOST : decoder.decode(Uint8Array.of(byte)));
};
/** Adobe's own codes start at 0xa1. A space replaces letters that payments don't need. */
const STANDARD = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ –†‡· ¶•‚„”»…‰ ¿ `´ˆ˜¯˘˙¨ ˚¸ ˝˛ˇ—                Æ ª    ŁØŒº     æ   ı  łøœß";

/** @param name of an encoding of the standard, as in a font */
export function tableOf(name: string | undefined): string[] {
  if (name === "MacRomanEncoding") return decoded("macintosh");
  if (name === "WinAnsiEncoding") return decoded("windows-1252");
  const table = decoded("windows-1252").map((letter, byte) => byte < 127 ? letter : LOST);
  [...STANDARD].forEach((letter, i) => letter !== " " && (table[0xa1 + i] = letter.normalize("NFKC")));
  return table;
}

const HELVETICA = "278278355556556889667191333333389584278333278278556556556556556556556556556556278278584584584556" +
  "1015667667722722667611778722278500667556833722778667778722667611722667944667667611278278278469556" +
  "333556556500556556278556556222222500222833556556556556333500278556500722500500500334260334584";

/** In thousandths of the size, by byte, for the fonts that every viewer has and that need not include widths. */
export function standardWidths(font: string): (code: number) => number {
  if (/courier/i.test(font)) return () => 600;
  const scale = /times/i.test(font) ? 0.9 : /bold/i.test(font) ? 1.06 : 1;
  const widths = HELVETICA.replace("1015", "999").match(/.{3}/g)!.map(Number);
  return (code) => scale * (widths[code - 32] ?? 556);
}
