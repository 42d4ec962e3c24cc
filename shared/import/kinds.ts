/**
 * The kind of a line besides spending, by its state, its type or its text, in this order; and the direction that a
 * word means.
 */
import { BOOKING_WORDS } from "./booking_words.ts";
import { plainHeader } from "./header_words.ts";
import {
  DIRECTION_PHRASES,
  DIRECTION_WORDS,
  INCOME_WORDS,
  STATE_WORDS,
  TEXT_WORDS,
  UNBOOKED_TITLES,
} from "./kind_words.ts";
import { ANY_PAYMENT_WORDS, OWN_ACCOUNT_WORDS, PAYMENT_WORDS, RECEIVED_WORDS } from "./payment_words.ts";
import type { Direction, Kind } from "./statement.ts";

const byWord = <Value extends string>(words: Record<Value, string | string[]>): Map<string, Value> =>
  new Map(
    Object.entries<string | string[]>(words).flatMap(([value, list]) =>
      (typeof list === "string" ? list.split(" ") : list).map((word) => [plainHeader(word), value as Value] as const)
    ),
  );

const BOOKINGS = new Set(BOOKING_WORDS.map(plainHeader));

/** The part between a booking's type, its day and the end of a card's number. */
const LINKS = new Set([
  "vom",
  "am",
  "mit",
  "of",
  "on",
  "from",
  "with",
  "du",
  "le",
  "del",
  "z",
  "dnia",
  "van",
  "den",
  "nr",
  "no",
]);
const FIRST_WORDS = new Set([...BOOKINGS].map((phrase) => phrase.split(" ")[0]));
const LAST_WORDS = new Set([...BOOKINGS].map((phrase) => phrase.split(" ").at(-1)));
const MOST_WORDS = Math.max(...[...BOOKINGS].map((phrase) => phrase.split(" ").length));

/** A text without the bank's own words at its ends (booking types, card schemes, days and numbers), normalized. */
export function withoutBooking(text: string): string {
  let words = plainHeader(text).split(" ");
  const isDetail = (word: string) => /\d/.test(word) || LINKS.has(word);
  const cutStart = (): boolean => {
    if (!FIRST_WORDS.has(words[0])) return false;
    const most = Math.min(MOST_WORDS, words.length);
    for (let count = most; count > 0; count--) {
      if (!BOOKINGS.has(words.slice(0, count).join(" "))) continue;
      words = words.slice(count);
      while (words.length > 0 && isDetail(words[0]!)) words.shift();
      return true;
    }
    return false;
  };
  const cutEnd = (): boolean => {
    const details = words.length - words.findLastIndex((word) => !isDetail(word)) - 1;
    const end = words.length - details;
    if (!LAST_WORDS.has(words[end - 1])) return false;
    for (let count = Math.min(MOST_WORDS, end); count > 0; count--) {
      if (!BOOKINGS.has(words.slice(end - count, end).join(" "))) continue;
      words = words.slice(0, end - count);
      return true;
    }
    return false;
  };
  while (words.length > 0 && (cutStart() || cutEnd()));
  return words.join(" ");
}

/** Whether a text names neither a shop nor a thing: only a dash, or the way and time of a payment. */
export const isWordless = (text: string): boolean =>
  !/\p{L}{2}|[\p{Script=Han}\p{Script=Hangul}]/u.test(text) ||
  (text.length <= 60 && !/\p{L}/u.test(withoutBooking(text)));

const DIRECTIONS = byWord(DIRECTION_WORDS);
for (const [phrase, side] of Object.entries(DIRECTION_PHRASES)) DIRECTIONS.set(plainHeader(phrase), side);
const STATES = byWord(STATE_WORDS);

// A slash marks a row that belongs to neither side.
DIRECTIONS.set("/", "own_transfer");

/** The direction that a cell names; undefined for any other word. */
export const directionOf = (cell: string): Direction | "own_transfer" | "exchange" | "balance" | undefined => {
  const plain = plainHeader(cell) || cell.trim();
  const said = DIRECTIONS.get(plain);
  if (said || !plain.includes(" ") || plain.length > MAX_DIRECTION) return said;
  // "贷 Cr" names the direction twice.
  const [first, ...others] = plain.split(" ").map((word) => DIRECTIONS.get(word));
  return others.every((other) => other === first) ? first : undefined;
};
const MAX_DIRECTION = 20;

/** The meaning of a state: "expense" counts; undefined for an unknown state. */
export const stateOf = (cell: string): Kind | undefined => {
  const plain = plainHeader(cell);
  const known = STATES.get(plain);
  // A shortcut for most cells, which are numbers and days.
  if (known || plain.length > MAX_STATE || plain < "a") return known;
  // "Nicht gebucht", "non contabilizzato", "nezaúčtovaná"
  if (STATES.get(plain.replace(NOT, "")) === "expense") return "pending";
  return STATES.get(plain.split(" ").filter((word) => !OF_STATES.has(word)).join(" "));
};
const MAX_STATE = 60;
const NOT =
  /^(?:(?:noch nicht|nicht|not yet|not|non|no|nao|nie|niet|nog niet|ikke|ej|inte|nem|neni|не|ei) |un|nie|ne|не)(?=\p{L})/u;
/** Nouns before a state: "Transaction declined", "payment is pending". */
const OF_STATES = new Set([
  ...[
    "transaction",
    "payment",
    "purchase",
    "charge",
    "card",
    "txn",
    "tx",
    "status",
    "state",
    "is",
    "was",
    "by",
    "bank",
  ],
  ...["transaktion", "zahlung", "buchung", "wurde", "ist", "transacción", "pago", "operación", "opération", "paiement"],
  ...[
    "transazione",
    "pagamento",
    "operazione",
    "transactie",
    "betaling",
    "transação",
    "transakcja",
    "płatność",
    "platba",
  ],
  ...["transaktionen", "betalning", "betalningen", "maksu", "fizetés", "tranzakció", "tranzacție", "plata", "операция"],
  ...["платеж", "işlem", "ödeme"],
].map(plainHeader));

/** Whether a cell is a state of an unbooked line. */
export const isUnbooked = (cell: string): boolean => (stateOf(cell) ?? "expense") !== "expense";

/** Whether the title of a section marks its rows as unbooked: "Vorgemerkte Umsätze", "Pending transactions". */
export const isUnbookedTitle = (plain: string): boolean => plain !== "" && UNBOOKED_TITLE.test(plain);
const UNBOOKED_TITLE = new RegExp(`(?<![\\p{L}])(?:${UNBOOKED_TITLES.map(plainHeader).join("|")})`, "u");

/** State words that count in a text only when they stand alone, unlike in "Hold my beer (hold)". */
const DOUBTFUL = new Set(["hold", "held", "offen", "refuse", "expired", "processing"]);

/** The state in a separate part of a text: "PENDING - Hotel", "Petrol (declined)". */
export function stateInText(text: string): Kind | undefined {
  const start = text.slice(0, MAX_TEXT);
  if (!/[-–—:()[\]*/|,]/.test(start)) return undefined;
  for (const part of start.split(/ [-–—] |[:()[\]*/|,]/)) {
    const plain = plainHeader(part);
    const state = DOUBTFUL.has(plain) ? undefined : STATES.get(plain);
    if (state === "pending" || state === "declined") return state;
  }
  return undefined;
}

/** The number of characters of a text that the search examines. */
const MAX_TEXT = 200;
const ASCII = /^[\0-\x7f]*$/;
export function plainText(text: string): string {
  const start = text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text;
  return ASCII.test(start)
    ? start.toLowerCase().replace(/[^a-z\d]+/g, " ").trim()
    : start.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().replace(/ß/g, "ss").replace(/ł/g, "l")
      .replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** The kind of a line by its text. */
export interface TextSays {
  /** The direction that the words require, if any. */
  in?: Kind | undefined;
  out?: Kind | undefined;
  none?: Kind | undefined;
  /** The text names a salary or similar. */
  isIncome: boolean;
  /** The text names the payment of a card's bill. */
  isPayment?: boolean;
  /** The text contains a word for a payment, by anybody. */
  namesPayment?: boolean;
  /** The text confirms a received payment. */
  isReceived?: boolean;
  /** The text names a card issuer, or an institution where people have their own accounts. */
  namesOwnAccount?: boolean;
}

interface Phrase {
  words: string;
  /** Position in TEXT_WORDS; words for income come after it. */
  rank: number;
}

/** Phrases by their first word, so that each text is compared with only a few. */
const RANKED = [
  ...TEXT_WORDS.map(({ words }) => words),
  INCOME_WORDS,
  PAYMENT_WORDS,
  OWN_ACCOUNT_WORDS,
  RECEIVED_WORDS,
  ANY_PAYMENT_WORDS,
];
const PHRASES = new Map<string, Phrase[]>();
for (const [rank, words] of RANKED.entries()) {
  for (const phrase of words.map(plainText)) {
    const first = phrase.split(" ", 1)[0]!;
    if (!PHRASES.has(first)) PHRASES.set(first, []);
    PHRASES.get(first)!.push({ words: `${phrase} `, rank });
  }
}
const INCOME = TEXT_WORDS.length;
const PAYMENT = INCOME + 1;
const OWN_ACCOUNT = PAYMENT + 1;
const RECEIVED = OWN_ACCOUNT + 1;
const ANY_PAYMENT = RECEIVED + 1;
/** Banks also pay a bonus for switching. */
const SWITCH = new Set(["kontowechsel ", "kontoumzug ", "account switch "]);
const BONUS = /pramie|praemie|bonus|reward/;
const NOTHING: TextSays = { isIncome: false };

/** The kind of a line by the words of its text; the first match in TEXT_WORDS wins. */
export function readText(text: string): TextSays {
  const plain = `${plainText(text)} `;
  let ranks: Set<number> | undefined;
  for (let at = 0, end = plain.indexOf(" "); end >= 0; at = end + 1, end = plain.indexOf(" ", at)) {
    for (const { words, rank } of PHRASES.get(plain.slice(at, end)) ?? []) {
      if (plain.startsWith(words, at) && !(SWITCH.has(words) && BONUS.test(plain))) (ranks ??= new Set()).add(rank);
    }
  }
  if (!ranks) return NOTHING;
  const kind = (direction?: Direction) =>
    TEXT_WORDS.find(({ only }, rank) => ranks.has(rank) && (!only || only === direction))?.kind;
  return {
    ...{ in: kind("in"), out: kind("out"), none: kind(), isIncome: ranks.has(INCOME), isPayment: ranks.has(PAYMENT) },
    namesOwnAccount: ranks.has(OWN_ACCOUNT),
    isReceived: ranks.has(RECEIVED),
    namesPayment: ranks.has(ANY_PAYMENT),
  };
}
