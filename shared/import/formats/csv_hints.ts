/** Properties of a table beyond its cells: the side of an amount, and whether it is an account's statement. */
import { plainHeader } from "../header_words.ts";
import { directionOf } from "../kinds.ts";
import { readMoney } from "../money_text.ts";
import type { RoleColumns } from "../layouts/mod.ts";
import type { CsvRow } from "../read_csv.ts";
import type { Direction, RawLine } from "../statement.ts";
import type { Cell } from "./csv_cells.ts";
import { lookUp } from "./look_up.ts";
import { cut } from "../shorten.ts";

type Side = Partial<Pick<RawLine, "amount" | "direction" | "problem" | "kind">>;

/** Reversed spending is a refund; reversed income is not. */
const OPPOSITE = {
  out: { direction: "in", kind: "refund" },
  in: { direction: "out", kind: "reverted" },
} as const;
const isZero = (cell: string) => !/[1-9]/.test(cell);

/**
 * Reads each row's direction from its two columns of money or from its word. If all amounts of a side have a minus, it
 * only repeats the side ("Soll -12,00"). If only some do, it means the opposite, such as a reversal.
 * @param isMinusOpposite whether the export never repeats the side by a minus
 */
export function findSides(rows: CsvRow[], cell: Cell, isMinusOpposite: boolean) {
  const seen: Record<Direction, { negative: number; positive: number }> = {
    in: { negative: 0, positive: 0 },
    out: { negative: 0, positive: 0 },
  };
  const count = (side: Direction, text: string) => {
    const money = isZero(text) ? undefined : readMoney(text);
    if (money) seen[side][money.isNegative ? "negative" : "positive"]++;
  };
  const directed = lookUp(directionOf);
  const wordOf = (cells: string[]) => {
    const said = directed(cell(cells, "direction"));
    return said === "in" || said === "out" ? said : undefined;
  };
  for (const { cells } of rows) {
    const word = wordOf(cells);
    if (word) count(word, cell(cells, "amount"));
    count("out", cell(cells, "out"));
    count("in", cell(cells, "in"));
  }
  const signed = (side: Direction, amount: string): Side => {
    const isOpposite = readMoney(amount)?.isNegative && (isMinusOpposite || seen[side].positive > 0);
    return { amount, ...(isOpposite ? OPPOSITE[side] : { direction: side }) };
  };
  return {
    /** The direction according to a row's word, with its amount's column. */
    word(cells: string[]): Side {
      const text = cell(cells, "direction");
      const side = wordOf(cells);
      if (side) return signed(side, cell(cells, "amount"));
      // Kinds of lines, such as a transfer, have no direction.
      if (!text || directed(text)) return {};
      return { problem: { code: "invalid_argument.row_direction", params: { value: cut(text, 40) } } };
    },
    /** The amount of a row's two columns. */
    column(cells: string[]): Side {
      const [out, into] = [cell(cells, "out"), cell(cells, "in")];
      if (isZero(out) && !isZero(into)) return signed("in", into);
      if (!isZero(out) && !isZero(into)) {
        return { amount: out, problem: { code: "invalid_argument.row_both_sides", params: { out, in: into } } };
      }
      return signed("out", out || into);
    },
  };
}

const ACCOUNT = /\b(iban|bic|swift|konto\p{L}*|compte|cuenta|conto|rekening\p{L}*|conta|rachunek|account)\b/u;
const VALUE_DATE =
  /\b(value date|wertstellung|valuta\p{L}*|date de valeur|fecha valor|data valuta|rentedatum|data valor)\b/u;
const CARD = /\b(card|credit limit|\p{L}*karten?\p{L}*|carte|tarjeta|carta|creditcard|cartao|karta)\b/u;

const CREDIT_CARD =
  /\b(credit ?cards?|credit limit|kreditkart\p{L}*|kreditkort\p{L}*|carte de credit|tarjeta de credito|carta di credito|cartao de credito|kart\p{L} kredytow\p{L}|kreditni\p{L} kart\p{L}|kredi kart\p{L}*|luottokort\p{L}*|hitelkartya\p{L}*|kreditna kart\p{L}*|card de credit)\b/u;

const BOOKING_DAY =
  /\b(\p{L}*buchung\p{L}*|booking|posting|posted|bokf\p{L}*|bogf\p{L}*|boek\p{L}*|comptable|contab\p{L}*|ksieg\p{L}*|zauct\p{L}*)\b/u;

/** The column of the booking day, if another column has the day of the purchase. A hold has no booking day yet. */
export function bookingDay(
  { headers, columns }: { headers: string[]; columns: RoleColumns },
  rows: CsvRow[],
): number | undefined {
  const days = columns.date ?? [];
  const booked = days.filter((column) => BOOKING_DAY.test(plainHeader(headers[column]!)));
  const filled = rows.filter(({ cells }) => cells[booked[0] ?? -1]).length;
  return booked.length === 1 && days.length > 1 && filled * 2 > rows.length ? booked[0] : undefined;
}

/** Texts that occur only in a card's statement; an account has payees. */
const MERCHANT =
  /^(payee|merchant.*|vendor|shop|store|supplier|handler|laden|geschaft|marchand|commercant|magasin|comercio|tienda|comerciante|esercente|negozio|commerciante|winkel|handelaar|loja|estabelecimento|sprzedawca|sklep|お店)$/;

/** Whether a table of an unknown export looks like a statement of an account, and of a card. */
export function accountHints(
  headers: string[],
  preamble: CsvRow[],
  { hasBalance, isShort = false, payee, isMostlyOut }: {
    hasBalance: boolean;
    /** Too few rows for a balance to prove anything. */
    isShort?: boolean;
    payee?: number | undefined;
    isMostlyOut: boolean;
  },
) {
  const names = headers.map(plainHeader).join(" | ");
  const words = [...headers, ...preamble.flatMap(({ cells }) => cells.slice(0, 4))].map(plainHeader).join(" | ");
  const isCard = CARD.test(words);
  const isPaid = payee !== undefined && !MERCHANT.test(plainHeader(headers[payee]!));
  const isOfAccount = ACCOUNT.test(names);
  const isBooked = isOfAccount || VALUE_DATE.test(names) || BOOKING_DAY.test(names);
  const isBank = hasBalance || isBooked || ACCOUNT.test(words) || VALUE_DATE.test(words);
  return {
    isCard,
    isCreditCard: CREDIT_CARD.test(words),
    isStatement: isBank || isPaid,
    isListOfPayees: isPaid && !isBank && !isMostlyOut,
    // A balance contradicts the sign unless it proves it. A list of payees may have a few refunds.
    isAccount: (isOfAccount || (isBooked && isPaid) || ((isBooked || isPaid) && isMostlyOut)) && !isCard &&
      (!hasBalance || isShort),
  };
}
