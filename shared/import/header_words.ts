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
export function plainHeader(header: string): string {
  const text = header.slice(0, MAX_LENGTH).replace(/[([（［][^()[\]（）［］]*[)\]）］]/g, " ");
  // Several times faster, and true of most cells.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase().replace(/[^a-z0-9]+/g, " ").trim();
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/ß/g, "ss").replace(/ł/g, "l").replace(/ı/g, "i")
    .replace(/[^\p{L}\p{N}\ufffd]+/gu, " ").trim();
}

/** Whether two plain headers are the same; a lost letter matches any one, or ss, or the gap left by a sign. */
export function isSameHeader(plain: string, other: string): boolean {
  if (plain === other) return true;
  const [damaged, whole] = isDamaged(plain) ? [plain, other] : [other, plain];
  return lengthsOf(damaged).includes(whole.length) && fits(damaged, whole);
}

/** The lengths of words that this one may be; none where too little is left. */
function lengthsOf(damaged: string): number[] {
  const losses = damaged.split(LOST_LETTER).length - 1;
  // Enough letters must be left, and every loss doubles the number of possible readings.
  if (losses === 0 || losses > MAX_LOST_LETTERS || damaged.length - losses < 3) return [];
  return Array.from({ length: losses + 1 }, (_, more) => damaged.length + more);
}

function fits(damaged: string, whole: string, from = 0, to = 0): boolean {
  for (; from < damaged.length; from++, to++) {
    if (damaged[from] === LOST_LETTER) {
      return (to < whole.length && fits(damaged, whole, from + 1, to + 1)) ||
        (whole.startsWith("ss", to) && fits(damaged, whole, from + 1, to + 2));
    }
    if (damaged[from] !== whole[to]) return false;
  }
  return to === whole.length;
}

const isDamaged = (plain: string): boolean => plain.includes(LOST_LETTER);

type Ranks = ReadonlyMap<Role, number>;
const NONE: Ranks = new Map();

/** By plain header: most cells are looked up and match nothing. */
const RANKS = new Map<string, Map<Role, number>>();
for (const role of ROLES) {
  for (const [rank, word] of COLUMN_WORDS[role].flatMap((line) => line.split("|")).map(plainHeader).entries()) {
    const ranks = RANKS.get(word) ?? new Map<Role, number>();
    RANKS.set(word, ranks.has(role) ? ranks : ranks.set(role, rank));
  }
}
/** By length and first letter, and by length alone for headers whose first letter is lost. */
const WORDS = new Map([
  ...Map.groupBy(RANKS.keys(), (word) => `${word.length}${word[0]}`),
  ...Map.groupBy(RANKS.keys(), (word) => `${word.length}${LOST_LETTER}`),
]);

const ranksOf = (plain: string): Ranks => isDamaged(plain) ? ranksOfDamaged(plain) : RANKS.get(plain) ?? NONE;

/** Looks at few words, since a file may be full of damaged cells. */
function ranksOfDamaged(plain: string): Ranks {
  const found = new Map<Role, number>();
  for (const length of lengthsOf(plain)) {
    for (const word of WORDS.get(`${length}${plain[0]}`) ?? []) {
      if (!fits(plain, word)) continue;
      for (const [role, rank] of RANKS.get(word)!) found.set(role, Math.min(rank, found.get(role) ?? rank));
    }
  }
  return found;
}

const MONEY: ReadonlySet<Role> = new Set(["amount", "out", "in", "balance"]);
const withoutCurrency = (plain: string) => plain.replace(/( in)? [a-z]{3}$/, "");

/**
 * How distinctive a plain header is for a field: 0 is best, undefined no match. A currency after the word is ignored.
 */
export const rankOf = (field: Role, plain: string): number | undefined =>
  ranksOf(plain).get(field) ?? (MONEY.has(field) ? ranksOf(withoutCurrency(plain)).get(field) : undefined);

/** The roles that a plain header has a rank for. */
export function rolesOf(plain: string): Role[] {
  const roles = [...ranksOf(plain).keys()];
  const without = withoutCurrency(plain);
  return without === plain ? roles : [...roles, ...[...ranksOf(without).keys()].filter((role) => MONEY.has(role))];
}
