/** Finds the account of a table: in a column, in the lines above the table, or from the export alone. */
import { BALANCE_WORDS, CLOSING_WORDS, OPENING_WORDS } from "../balance_words.ts";
import { describeAccount, isIban, isMasked } from "../account_name.ts";
import { plainHeader, rankOf, type Role } from "../header_words.ts";
import type { KnownLayout } from "../layouts/mod.ts";
import type { CsvRow } from "../read_csv.ts";
import type { Account, BalanceText } from "../statement.ts";
import { readDate } from "../date_text.ts";
import { isCode, isKnownCurrency, readCurrency, readMoney } from "../money_text.ts";
import { cut } from "../shorten.ts";

/** Headers and labels for the number of the file's own account, in eight languages, normalized by `plainHeader`. */
export const NUMBER_WORDS = new Set([
  ...[
    "account",
    "account number",
    "account no",
    "account id",
    "iban",
    "card",
    "card no",
    "card number",
    "account iban",
  ],
  ...["konto", "kontonummer", "konto nr", "auftragskonto", "kartennummer", "karte", "kreditkarte", "karten nr"],
  ...["compte", "numero de compte", "n de compte", "carte", "numero de carte", "cuenta", "numero de cuenta", "tarjeta"],
  ...["numero de tarjeta", "conto", "numero conto", "carta", "numero carta", "rekening", "rekeningnummer", "kaart"],
  ...["kaartnummer", "conta", "numero da conta", "cartao", "rachunek", "numer rachunku", "numer konta", "karta"],
]);
/** Labels of the account's name. */
export const NAME_WORDS = new Set([
  ...["account name", "kontoname", "kontobezeichnung", "account type", "nom du compte", "nombre de la cuenta"],
  ...["nazwa konta", "název účtu", "názov účtu", "számla név", "számla neve", "kontonavn", "kontonamn", "tilin nimi"],
  ...["nume cont", "naziv računa", "hesap adı", "название счета", "назва рахунку", "口座名", "账户名称", "계좌명"],
  ...["nome conto", "rekeningnaam", "nome da conta", "nazwa rachunku", "kartenname", "card name"],
].map(plainHeader));
const startsWith = (words: string[]) => new RegExp(`^(${words.map(plainHeader).join("|")})(?![\\p{L}\\d])`, "u");
const OPENING = startsWith(OPENING_WORDS);
const CLOSING = startsWith([...CLOSING_WORDS, ...BALANCE_WORDS]);

/** Labels of the account's owner. */
const OWNER_WORDS = new Set([
  ...["account holder", "account owner", "cardholder", "card holder", "customer", "customer name", "kontoinhaber"],
  ...["karteninhaber", "kunde", "titulaire", "titulaire du compte", "titular", "titular de la cuenta", "intestatario"],
  ...["intestatario conto", "rekeninghouder", "titular da conta", "właściciel rachunku", "właściciel", "posiadacz"],
  ...["klient", "kontohaver", "kontoinnehavare", "kontoeier", "tilinomistaja", "majitel účtu", "majiteľ účtu"],
  ...["számlatulajdonos", "titular cont", "vlasnik računa", "imetnik računa", "владелец счета", "клиент", "власник"],
  ...["hesap sahibi", "müşteri", "δικαιούχος λογαριασμού", "chủ tài khoản", "nama", "口座名義", "户名", "예금주"],
].map(plainHeader));

/** Lines above a table may be long texts, so the search covers only these cells of a row. */
const MAX_CELL = 120;
const MAX_CELLS = 8;

interface Table {
  headers: string[];
  columns: Partial<Record<Role, number[]>>;
  rows: CsvRow[];
  preamble: CsvRow[];
  layout?: KnownLayout["layout"] | undefined;
  isCard: boolean;
}

export function findAccount({ headers, columns, rows, preamble, layout, isCard }: Table): Account | undefined {
  const told = columns.account?.[0] ?? (layout ? undefined : ownColumn(headers, columns));
  const values = told === undefined ? [] : distinct(rows, told);
  const value = values.length === 1 ? values[0]! : undefined;
  const said = readPreamble(preamble);
  const bank = layout && !layout.isList ? layout.name.replace(", card", " card").split(",")[0]! : undefined;
  // "Current" and "Visa 1234" are names of accounts; "20-00-00 123" and an IBAN are numbers.
  const isName = value !== undefined && /\p{L}{3}/u.test(value) && !isIban(value);
  return describeAccount({
    number: value ?? said.number,
    bank: isName ? [bank, value].filter(Boolean).join(" ") : said.name ?? bank,
    isCard,
  });
}

/** A column without another role that has the same value in all rows. */
function ownColumn(headers: string[], columns: Table["columns"]): number | undefined {
  const used = new Set(Object.values(columns).flat());
  const column = headers.findIndex((header, at) => !used.has(at) && NUMBER_WORDS.has(plainHeader(header)));
  return column < 0 ? undefined : column;
}

/** The first two values of a column. */
function distinct(rows: CsvRow[], column: number): string[] {
  const found: string[] = [];
  for (const { cells } of rows) {
    const value = cut(cells[column] ?? "", MAX_CELL);
    if (value && !found.includes(value) && found.push(value) === 2) break;
  }
  return found;
}

interface Labelled {
  label: string;
  /** As written. */
  title: string;
  /** The label's value: in the next cell, or after a colon. */
  value: string;
  /** The other cells of its row. */
  rest: string[];
}

function* labelled(rows: CsvRow[]): Generator<Labelled> {
  for (const { cells } of rows) {
    const filled = cells.slice(0, MAX_CELLS).map((cell) => cut(cell, MAX_CELL)).filter(Boolean);
    for (const [i, cell] of filled.entries()) {
      const colon = cell.indexOf(":");
      const rest = filled.slice(i + 1);
      if (colon > 0 && colon < cell.length - 1) rest.unshift(cell.slice(colon + 1).trim());
      const title = colon > 0 ? cell.slice(0, colon) : cell;
      yield { label: plainHeader(title), title, value: rest[0] ?? "", rest };
    }
  }
}

function readPreamble(preamble: CsvRow[]): { number?: string; name?: string } {
  let [number, name, iban] = ["", "", ""];
  for (const { label, title, value } of labelled(preamble)) {
    const isNumber = isIban(value) || isMasked(value);
    if (isIban(value)) iban ||= value;
    else if (/\d{2}/.test(value) && (isNumber || NUMBER_WORDS.has(label))) number ||= value;
    // "Girokonto";"DE02…": the cell before a number may be the name.
    if (NAME_WORDS.has(label)) name ||= value;
    else if (isNumber && !NUMBER_WORDS.has(label)) name ||= title;
  }
  return { ...((iban || number) && { number: iban || number }), ...(name && { name }) };
}

/** The account's owner, from a label above the table or from a column with one value in all rows. */
export function findOwner(
  { headers, rows, preamble }: Pick<Table, "headers" | "rows" | "preamble">,
): string | undefined {
  const column = headers.findIndex((header) => OWNER_WORDS.has(plainHeader(header)));
  const said = column < 0 ? [] : distinct(rows, column);
  if (said.length === 1) return said[0];
  for (const { label, value } of labelled(preamble)) {
    if (OWNER_WORDS.has(label) && /\p{L}{2}/u.test(value)) return value;
  }
  return undefined;
}

/** The currency in the lines above a table: after a label, beside an amount, or as their only code. */
export function currencyAbove(preamble: CsvRow[]): string | undefined {
  for (const [i, { cells }] of preamble.entries()) {
    for (const { label, value } of labelled([{ line: 0, cells }])) {
      if (rankOf("currency", label) === undefined && !label.split(" ").some(isCurrencyWord)) continue;
      const [below = ""] = preamble[i + 1]?.cells.filter(Boolean) ?? [];
      const said = [value, below].find(isKnownCurrency);
      if (said) return readCurrency(said);
    }
  }
  const cells = preamble.flatMap(({ cells }) => cells.slice(0, MAX_CELLS)).map((cell) => cut(cell, MAX_CELL));
  return onlyCode(cells.flatMap((cell) => readMoney(cell)?.currency ?? [])) ?? onlyCode(cells.flatMap(codesIn));
}

const isCurrencyWord = (word: string) => word !== "valuta" && rankOf("currency", word) !== undefined;

/** Codes that are also ordinary words in capitals. */
const WORDS = new Set(["ALL", "TOP", "TRY", "PEN", "CUP", "MOP", "BAM", "GEL", "LAK", "SOS", "MAD", "COP"]);

/** The codes of currencies that stand alone in a text. */
const codesIn = (text: string) => (text.match(/(?<![\p{L}\d])[A-Z]{3}(?![\p{L}\d])/gu) ?? []).filter(isPlainCode);
const isPlainCode = (word: string) => isCode(word) && !WORDS.has(word);

function onlyCode(found: string[]): string | undefined {
  const codes = new Set(found.filter(isCode));
  return codes.size === 1 ? [...codes][0] : undefined;
}

/** The currency in the name of a file: "statement_SEK_2026-10.csv". */
export const currencyInName = (name: string): string | undefined => onlyCode(codesIn(cut(name, MAX_CELL)));

/** A word for a sum, before or after the word for a side: "Total debits", "Summe Soll". */
const TOTAL =
  /(?<![\p{L}\d])(totals?|sum|summe|suma|somme|totale|totaal|sumate|celkem|spolu|osszesen|yhteensa|ukupno|promet|totalt|totales|totais|toplam|kaive|kokku|apyvarta|is viso|apgrozijums|kopa|turnover|obrat|obroty|общо|разом|итого|всего|合計|合计|합계)(?![\p{L}\d])/gu;

/** Whether a row below a table is a balance or a total instead of a line. */
const isBalance = ({ cells }: CsvRow): boolean => {
  const label = plainHeader((cells.find(Boolean) ?? "").slice(0, MAX_CELL));
  return OPENING.test(label) || CLOSING.test(label) || label.search(TOTAL) === 0;
};

/** Whether a row contains only a word for a sum, and amounts. */
export const isSum = ({ cells }: CsvRow): boolean => {
  const filled = cells.filter(Boolean);
  return filled.length > 1 && plainHeader(filled[0]!.slice(0, MAX_CELL)).search(TOTAL) === 0 &&
    filled.slice(1).every(readMoney);
};

/** The maximum number of rows below a table. */
const MAX_FOOTER = 5;

/** Removes the balances below a table from its rows. @param date its column of days */
export function splitFooter(all: CsvRow[], date: number): { rows: CsvRow[]; footer: CsvRow[] } {
  const isLine = ({ cells }: CsvRow) => readDate(cells[date] ?? "") !== undefined;
  const last = all.slice(-MAX_FOOTER);
  // A single cell below the table at the left is a sentence about it; further right, it continues the last row.
  const isRemark = (row: CsvRow) => isBalance(row) || (row.cells.filter(Boolean).length === 1 && row.cells[0]);
  const from = last.findIndex((_, i) => last.slice(i).every((row) => isRemark(row) && !isLine(row)));
  const length = from < 0 ? all.length : all.length - last.length + from;
  return { rows: all.slice(0, length), footer: all.slice(length) };
}

const DAY = /(?<!\d)\d{1,4}([./-])\d{1,2}\1\d{2,4}(?!\d)/;

/** The balances above and below a table, covering all its rows. */
export function findBalances(around: CsvRow[], rows: number): BalanceText[] {
  let [opening, closing, closing_on] = ["", "", ""];
  for (const { label, title, rest } of labelled(around)) {
    const amount = rest.find((cell) => readMoney(cell) && !readDate(cell)) ?? "";
    if (OPENING.test(label)) opening ||= amount;
    else if (CLOSING.test(label) && !closing && amount) {
      closing = amount;
      closing_on = [title, ...rest].find((cell) => DAY.test(cell)) ?? "";
    }
  }
  return opening || closing
    ? [{
      ...(opening && { opening }),
      ...(closing && { closing }),
      ...(closing_on && { closing_on }),
      from: 0,
      to: rows,
    }]
    : [];
}

/** The totals of money out and money in from the lines around a table. */
export function totalsAround(around: CsvRow[]): { side: "out" | "in"; cells: string[] }[] {
  return [...labelled(around)].flatMap(({ label, rest }) => {
    const word = label.replace(TOTAL, " ").replace(/ +/g, " ").trim();
    const sides = (["out", "in"] as const).filter((side) => rankOf(side, word) !== undefined);
    return sides.length === 1 ? [{ side: sides[0]!, cells: rest.filter((cell) => readMoney(cell)) }] : [];
  });
}
