/** What a column's name says that it holds. */
import { COLUMN_WORDS } from "./column_words.ts";

export const FIELDS = ["date", "amount", "name", "payee", "currency", "category", "note", "url"] as const;
export type Field = typeof FIELDS[number];

/** What a column may be besides a field of an expense. */
export const HINTS = [
  "out",
  "in",
  "balance",
  "type",
  "state",
  "fee",
  "direction",
  "account",
  "counter_account",
  "payer",
  "tax",
  "original_amount",
  "original_currency",
] as const;
export type Role = Field | typeof HINTS[number];
export const ROLES: readonly Role[] = [...FIELDS, ...HINTS];

/** Replacement character for a letter lost to a wrong encoding. */
const LOST_LETTER = "\ufffd";
const MAX_LOST_LETTERS = 8;
/** Only the beginning of a header is used. */
const MAX_LENGTH = 100;

/**
 * Normalizes a header: lower case, no accents, punctuation or bracketed text ("Betrag (EUR)" is "betrag"). Lost letters
 * keep their place.
 */
export const plainHeader = (header: string): string =>
  header.slice(0, MAX_LENGTH).replace(/[([][^()[\]]*[)\]]/g, " ").normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/ß/g, "ss").replace(/ł/g, "l").replace(/ı/g, "i")
    .replace(/[^\p{L}\p{N}\ufffd]+/gu, " ").trim();

/** Whether two plain headers are the same; a lost letter matches any one, or ss, or the gap left by a sign. */
export function isSameHeader(plain: string, other: string): boolean {
  if (plain === other) return true;
  const [damaged, whole] = plain.includes(LOST_LETTER) ? [plain, other] : [other, plain];
  return couldFit(damaged)(whole);
}

/** Returns a test for whether a word could be the damaged one; most are ruled out by length. */
function couldFit(damaged: string): (whole: string) => boolean {
  const losses = damaged.split(LOST_LETTER).length - 1;
  // Enough letters must be left, and every loss doubles the number of possible readings.
  if (losses === 0 || losses > MAX_LOST_LETTERS || damaged.length - losses < 3) return () => false;
  const longest = damaged.length + losses;
  return (whole) => whole.length >= damaged.length && whole.length <= longest && fits(damaged, whole);
}

function fits(damaged: string, whole: string): boolean {
  const lost = damaged.indexOf(LOST_LETTER);
  if (lost < 0) return damaged === whole;
  if (lost >= whole.length || !whole.startsWith(damaged.slice(0, lost))) return false;
  const rest = damaged.slice(lost + 1);
  return fits(rest, whole.slice(lost + 1)) || (whole.startsWith("ss", lost) && fits(rest, whole.slice(lost + 2)));
}

const WORDS = new Map(
  ROLES.map((role) => [role, COLUMN_WORDS[role].flatMap((line) => line.split("|")).map(plainHeader)]),
);

/** Cached by plain header and field: most cells are looked up and match nothing. */
const RANKS = new Map(
  ROLES.map((field) => [field, new Map(WORDS.get(field)!.map((word, rank) => [word, rank] as const).reverse())]),
);

/**
 * How distinctive a plain header is for a field: 0 is best, undefined no match. A currency after the word is ignored.
 */
export function rankOf(field: Role, plain: string): number | undefined {
  const rank = rankOfWord(field, plain);
  return rank === undefined && MONEY.has(field) ? rankOfWord(field, plain.replace(/( in)? [a-z]{3}$/, "")) : rank;
}

const MONEY: ReadonlySet<Role> = new Set(["amount", "out", "in", "balance"]);

function rankOfWord(field: Role, plain: string): number | undefined {
  if (!plain.includes(LOST_LETTER)) return RANKS.get(field)!.get(plain);
  const rank = WORDS.get(field)!.findIndex(couldFit(plain));
  return rank < 0 ? undefined : rank;
}
