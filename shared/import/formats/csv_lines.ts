/** Reads a table's rows into lines, as text by role. */
import { plainHeader, type Role } from "../header_words.ts";
import { NAME_WORDS, NUMBER_WORDS } from "./csv_account.ts";
import { directionOf, isUnbooked, isWordless, readText, stateInText, stateOf } from "../kinds.ts";
import { readMoney } from "../money_text.ts";
import type { KnownLayout, RoleColumns } from "../layouts/mod.ts";
import type { CsvRow } from "../read_csv.ts";
import { oneLine, shorten } from "../shorten.ts";
import type { Kind, RawLine } from "../statement.ts";
import type { RefusalFacts } from "../../words/message.ts";
import { type Cell, cellReader } from "./csv_cells.ts";
import { readLedger } from "./ledger_rows.ts";
import { findSides } from "./csv_hints.ts";
import { kindsOfLayout } from "./layout_kinds.ts";
import { lookUp } from "./look_up.ts";
import type { Sections } from "./sections.ts";

interface Table {
  headers: string[];
  columns: RoleColumns;
  headerLine?: number;
  layout?: KnownLayout["layout"] | undefined;
  delimiter: string;
  /** The column of the booking day; a row without a booking day is not booked yet. */
  booked?: number | undefined;
  sections: Omit<Sections, "rows">;
}

export function readLines(
  rows: CsvRow[],
  { headers, columns, headerLine, layout, delimiter, booked: day, sections }: Table,
): RawLine[] {
  const cell = cellReader(columns);
  const has = (role: Role) => columns[role] !== undefined && columns[role].length > 0;
  const isOwn = ownAccounts(rows, cell);
  const ledger = layout ? undefined : readLedger(rows, columns.date?.[0], columns.name?.[0]);
  const isSpace = ownSpaces(headers, rows, columns.payee?.[0] ?? columns.name?.[0]);
  const sideOf = findSides(rows, cell, layout?.isMinusOpposite === true);
  const kinds = kindsOfLayout(layout ?? {});
  const stated = statesOf(layout);
  const worded = lookUp(isWordless);
  // Another text may be more specific than the payment method.
  const isNamed = (text: string) => layout !== undefined || (columns.name?.length ?? 0) < 2 || !worded(text);
  const unbooked = lookUp(isUnbooked);
  const directed = lookUp(kindOfDirection);
  const refunded = lookUp((word) => readText(word).in === "refund" ? "refund" as const : undefined);
  // "Pending" in place of a day does not need a known state.
  const needsState = layout && columns.state?.[0] !== columns.date?.[0];
  const [hasAmount, hasDirection] = [has("amount"), has("direction")];
  const hasPayer = has("payer");
  const hasOriginal = has("original_amount");

  const creditOf = creditsOf(rows, sections.credits, cell);

  return rows.map((row): RawLine => {
    const { line, cells } = row;
    const payee = oneLine(cell(cells, "payee"));
    const said = cell(cells, "name");
    const name = payee || isNamed(said)
      ? said
      : columns.name!.map((column) => cells[column] ?? "").find(isNamed) ?? said;
    const note = name === said ? cell(cells, "note") : said;
    const fee = cell(cells, "fee");
    const [type, category, currency] = [cell(cells, "type"), cell(cells, "category"), cell(cells, "currency")];
    const state = columns.state?.map((column) => cells[column] ?? "").find(unbooked) ?? cell(cells, "state");
    const side = ledger
      ? ledger(cells, cell(cells, "amount")) as ReturnType<typeof sideOf.word>
      : hasAmount
      ? sideOf.word(cells)
      : sideOf.column(cells);
    const told = hasDirection ? cell(cells, "direction") : "";
    // A wallet's amount that is in neither column may be a refund.
    const isBack = !layout && told !== "" && directed(told) === "own_transfer" &&
      readText(`${type} / ${name}`).in === "refund";
    const booked = (state ? stated(state) : undefined) ?? (layout ? undefined : stateInText(name)) ??
      (day !== undefined && !cells[day] && cell(cells, "date") ? "pending" : undefined);
    const kind = (booked === "expense" ? undefined : booked) ?? sections.kinds.get(row) ??
      (isBack ? "refund" : told ? directed(told) ?? refunded(told) : undefined) ??
      kinds.ofType(type) ?? kinds.ofCategory(category) ?? kinds.ofTexts([name, payee, note]) ??
      (isOwn(cell(cells, "counter_account")) ? "own_transfer" : isSpace(payee || said) ? "savings" : side.kind);
    const credit = creditOf(row, said);
    const problem: RefusalFacts | undefined = sections.others.has(row)
      ? { code: "invalid_argument.row_of_other_table" }
      : headerLine !== undefined && isWider(cells, headers.length)
      ? { code: "invalid_argument.row_too_wide", params: { cells: cells.length, columns: headers.length, delimiter } }
      : needsState && state && booked === undefined
      ? { code: "invalid_argument.row_state", params: { value: shorten(state, 40) } }
      : kind
      ? undefined
      : side.problem;
    const read: RawLine = {
      ...{ line, name, payee, note, category, type, date: cell(cells, "date") },
      amount: (side.amount ?? cell(cells, "amount")) || (fee && "0"),
      url: cell(cells, "url"),
      fee,
      balance: cell(cells, "balance"),
      account: cell(cells, "account"),
      tax: cell(cells, "tax"),
    };
    if (hasOriginal) {
      read.original = { amount: cell(cells, "original_amount"), currency: cell(cells, "original_currency") };
    }
    const counterAccount = cell(cells, "counter_account");
    if (counterAccount) read.counter_account = counterAccount;
    if (hasPayer) read.payer = oneLine(cell(cells, "payer"));
    if (currency) read.currency = currency;
    if (side.direction || isBack) read.direction = side.direction ?? "in";
    if (credit) Object.assign(read, credit);
    if (kind) read.kind = kind;
    if (problem) read.problem = problem;
    return read;
  });
}

/** The direction of unsigned amounts, by the titles of sections. */
function creditsOf(rows: CsvRow[], credits: Sections["credits"], cell: Cell) {
  const isUnsigned = credits.size > 0 && !rows.some(({ cells }) => readMoney(cell(cells, "amount"))?.isNegative);
  return (row: CsvRow, name: string): Pick<RawLine, "direction" | "kind"> | undefined => {
    if (!isUnsigned || !cell(row.cells, "amount")) return undefined;
    const isBack = credits.get(row);
    if (isBack === undefined) return { direction: "out" };
    return {
      direction: "in",
      ...(readText(name).isPayment ? { kind: "card_payment" } : isBack && { kind: "refund" }),
    };
  };
}

const isWider = (cells: string[], columns: number) => cells.length > columns && cells.slice(columns).some(Boolean);

/** By the export's own values, then by common words: "expense" means that the line counts. */
function statesOf(layout: Table["layout"]): (state: string) => Kind | undefined {
  const own = kindsOfLayout({ types: layout?.states ?? {} });
  const known = lookUp(stateOf);
  return (state) => own.ofType(state) ?? known(state);
}

/** A word for the kind of a row instead of its direction. */
function kindOfDirection(word: string): Kind | undefined {
  const said = directionOf(word);
  return said === "in" || said === "out" ? undefined : said;
}

/** Whether a number belongs to an account of this table. */
function ownAccounts(rows: CsvRow[], cell: Cell): (account: string) => boolean {
  const own = new Set<string>();
  let last = "";
  for (const { cells } of rows) {
    const account = cell(cells, "account");
    // Most rows have the same number.
    if (account && account !== last) own.add(plainAccount(account));
    last = account;
  }
  return own.size === 0 ? () => false : (account) => account !== "" && own.has(plainAccount(account));
}

/** Whether a name is one of the accounts, spaces or pockets in the file. */
function ownSpaces(headers: string[], rows: CsvRow[], party: number | undefined): (name: string) => boolean {
  const isAccount = (header: string) => NAME_WORDS.has(plainHeader(header)) || NUMBER_WORDS.has(plainHeader(header));
  const namesOf = (column: number) => {
    const names = new Set(column < 0 ? [] : rows.map(({ cells }) => plainHeader(cells[column] ?? "")));
    names.delete("");
    return names;
  };
  const named = namesOf(headers.findIndex(isAccount));
  const own = named.size > 1 || party === undefined ? named : namesOf(mirroredColumn(headers, rows, party));
  return own.size < 2 ? () => false : (name) => name !== "" && own.has(plainHeader(name));
}

/** More accounts than a person has. */
const MOST_SPACES = 20;

/** A column of names that pay each other in different rows: both are accounts of the file. */
function mirroredColumn(headers: string[], rows: CsvRow[], party: number): number {
  const plain = lookUp(plainHeader);
  return headers.findIndex((_, column) => {
    const names = column === party ? undefined : fewNames(rows, column);
    if (!names || names.size < 2) return false;
    const pairs = new Set<string>();
    return rows.some(({ cells }) => {
      const [own, other] = [plain(cells[column] ?? ""), plain(cells[party] ?? "")];
      if (!names.has(own) || !names.has(other) || own === other) return false;
      pairs.add(`${own}\n${other}`);
      return pairs.has(`${other}\n${own}`);
    });
  });
}

/** The plain names in a column; undefined if there are too many to be a person's accounts. */
function fewNames(rows: CsvRow[], column: number): Set<string> | undefined {
  const found = new Set<string>();
  if (rows.some(({ cells }) => found.add(cells[column] ?? "").size > MOST_SPACES)) return undefined;
  const names = new Set([...found].map(plainHeader));
  names.delete("");
  return names;
}

const plainAccount = (account: string) => account.replace(/[\s-]+/g, "").toUpperCase();
