/** Reads a column's field from its name. */
import { COLUMN_WORDS } from "./column_words.ts";

export const FIELDS = ["date", "amount", "name", "payee", "currency", "category", "note", "url"] as const;
export type Field = typeof FIELDS[number];

/** Roles of a column besides the fields of an expense. */
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
/** Only the beginning of a header counts. */
const MAX_LENGTH = 100;

/**
 * Normalizes a header: lower case, no accents, punctuation or bracketed text ("Betrag (EUR)" is "betrag"). Lost letters
 * keep their place.
 */
export function plainHeader(header: string): string {
  const text = header.slice(0, MAX_LENGTH).replace(/[([（［][^()[\]（）［］]*[)\]）］]/g, " ");
  // Several times faster, and sufficient for most cells.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase().replace(/[^a-z0-9]+/g, " ").trim();
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/ß/g, "ss").replace(/ł/g, "l").replace(/ı/g, "i").replace(CYRILLIC, toCyrillic)
    .replace(/[^\p{L}\p{N}\ufffd]+/gu, " ").trim();
}

/** Cyrillic words, some of them with Latin look-alike letters. */
const CYRILLIC = /[a-z]+(?=\p{Script=Cyrillic})|(?<=\p{Script=Cyrillic})[a-z]+/gu;
const ALIKE: Record<string, string> = {
  a: "а",
  c: "с",
  e: "е",
  i: "і",
  k: "к",
  m: "м",
  o: "о",
  p: "р",
  x: "х",
  y: "у",
};
const toCyrillic = (letters: string) => letters.replace(/[aceikmopxy]/g, (letter) => ALIKE[letter]!);

/** Whether two plain headers are the same. A lost letter matches any letter, "ss", or the gap that a sign left. */
export function isSameHeader(plain: string, other: string): boolean {
  if (plain === other) return true;
  const [damaged, whole] = isDamaged(plain) ? [plain, other] : [other, plain];
  return lengthsOf(damaged).includes(whole.length) && fits(damaged, whole);
}

/** The possible lengths of a damaged word; empty if too little remains. */
function lengthsOf(damaged: string): number[] {
  const losses = damaged.split(LOST_LETTER).length - 1;
  // Enough letters must remain, because every loss doubles the number of possible readings.
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

/** Keyed by plain header, because most lookups are cells that match nothing. */
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

/** German banks without umlauts write "Empfaenger" for "Empfänger". */
const withoutUmlauts = (plain: string) => plain.replace(/([aou])e/g, "$1");

const ranksOf = (plain: string): Ranks =>
  isDamaged(plain) ? ranksOfDamaged(plain) : RANKS.get(plain) ?? RANKS.get(withoutUmlauts(plain)) ?? NONE;

/** Examines few words, because a file may be full of damaged cells. */
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
 * How distinctive a plain header is for a field: 0 is best, undefined means no match. Ignores a currency after the
 * word.
 */
export const rankOf = (field: Role, plain: string): number | undefined =>
  ranksOf(plain).get(field) ?? (MONEY.has(field) ? ranksOf(withoutCurrency(plain)).get(field) : undefined);

/** The role of a header that has one of these words besides a word for money or time. */
const OTHER =
  /(?<!\p{L})(fees?|tax(es)?|vat|rate|limit|points?|cashback|tips?|discount|refund(ed)?|unit|per|due|birth|expiry|statement|origin\p{L}*|foreign|fremd\p{L}*|etrang\p{L}*|extranj\p{L}*|puvodni|steuer\p{L}*|kurs|kosten|fallig\p{L}*|geburts\p{L}*|gebuhr\p{L}*|frais|taux|echeance|vencimiento|scadenza|splatnosti|комиссии|комісій|кешбэка?|кешбеку)(?!\p{L})/u;
/** Words at the end of compounds, in languages that write compounds as one word. */
const ENDS: Partial<Record<Role, RegExp>> = {
  date: /\p{L}(datum|dato|tag|dag|päivä)$/u,
  amount: /\p{L}(betrag|bedrag|belopp|beløb|beløp|summa|summe|amount)$/u,
};

/** Whether a header begins or ends with a word of the role, such as "Date Processed", and names no other role. */
export function isCompound(role: "date" | "amount", header: string): boolean {
  const plain = plainHeader(header.slice(0, MAX_LENGTH).replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " "));
  const words = plain.split(" ");
  if (OTHER.test(plain) || words.length > 5) return false;
  const others = new Set<Role>(["amount", "out", "in", "balance", "fee", "date"]);
  others.delete(role);
  if (words.some((word) => [...RANKS.get(word)?.keys() ?? []].some((other) => others.has(other)))) return false;
  return [words[0]!, words.at(-1)!].some((word) => RANKS.get(word)?.has(role)) || ENDS[role]!.test(plain);
}

/** Whether a header names a side and an amount: "Сума списання". */
export function isSideOfAmount(side: "out" | "in", plain: string): boolean {
  const words = plain.split(" ");
  return words.length === 2 &&
    [words, words.toReversed()].some(([one, other]) => RANKS.get(one!)?.has("amount") && RANKS.get(other!)?.has(side));
}

/** The roles for which a plain header has a rank. */
export function rolesOf(plain: string): Role[] {
  const roles = [...ranksOf(plain).keys()];
  const without = withoutCurrency(plain);
  return without === plain ? roles : [...roles, ...[...ranksOf(without).keys()].filter((role) => MONEY.has(role))];
}
