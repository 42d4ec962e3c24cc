/**
 * A name that one stranger chose, in a mail to another. It must not look like our own words, or like a URL that a mail
 * program turns into a link.
 */
import { oneLine } from "./one_line.ts";

const LONGEST = 60;
/** The longest examined text, because normalizing a pile of marks takes quadratic time. */
const READ = 1000;

/** Characters without a visible form, and those that change how others look. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]+/gu;
/** Characters that end our own quotation marks. */
const QUOTATION_MARKS = /["\u201c-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\uff02]/gu;
/** The longest line of a list. */
const LONGEST_LINE = 240;
/**
 * Parts of a web or mail address; a space after each breaks the link. Figures such as 14.50 are not addresses, but IP
 * addresses are.
 */
const JOINTS =
  /(?<!\d)([.:/@\\\u3002\uff61])(?=\S)|([.:/@\\\u3002\uff61])(?=[^\s\d])|(?<=\d[.\u3002\uff61]\d{1,3})([.\u3002\uff61])(?=\d)/gu;

/** A line with a stranger's names and notes beside amounts and days. */
export function strangersLine(line: string): string {
  const seen = line.slice(0, READ).replace(/\s+/gu, " ").replace(INVISIBLE, "").normalize("NFKC");
  return oneLine(seen, LONGEST_LINE).replace(JOINTS, "$& ");
}

/** @return one line in double quotation marks, or undefined when nothing legible is left */
export function strangersName(name: string): string | undefined {
  const shown = legibleName(name, LONGEST);
  return shown ? `“${shown}”` : undefined;
}

/** @param longest in characters @return one line without quotation marks, for the caller to quote */
export function legibleName(name: string, longest: number): string {
  const seen = name.slice(0, READ).replace(/\s+/gu, " ").replace(INVISIBLE, "");
  const legible = seen.normalize("NFKC").replace(QUOTATION_MARKS, "’");
  return oneLine(legible, longest).replace(JOINTS, "$& ");
}
