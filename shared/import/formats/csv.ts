/** Reads CSV of a known or unknown export into lines of text cells. */
import { currencyInHeader, hasTwoMarks, isText, looksLike, mayBeIncome, someCameIn } from "../cell_looks.ts";
import { findColumns, type Mapping } from "../find_columns.ts";
import { FIELDS, plainHeader, type Role } from "../header_words.ts";
import { suggestCurrencies } from "../currency_hints.ts";
import { findLayout } from "../layouts/mod.ts";
import { readMoney } from "../money_text.ts";
import { MAX_HEADER_ROW } from "../find_header.ts";
import { type CsvRow, readCsv } from "../read_csv.ts";
import { shorten } from "../shorten.ts";
import { type ImportProblem, type Statement, tooLong } from "../statement.ts";
import { currencyAbove, findAccount, findBalances, findOwner, splitFooter } from "./csv_account.ts";
import { joinContinued, withText } from "./continued_rows.ts";
import { completeDays, orderAbove } from "./yearless_days.ts";
import { refuseBills } from "./bills.ts";
import { refuse } from "./refusals.ts";
import { accountHints, bookingDay } from "./csv_hints.ts";
import { readLines } from "./csv_lines.ts";
import { findSections } from "./sections.ts";

/** The widest known exports have about fifty. */
export const MAX_COLUMNS = 200;
/** Columns that the answer names. */
const NAMED = [...FIELDS, "original_amount", "original_currency"] as const;
const DELIMITERS: Record<string, string> = { "\t": "tab" };

const SECURITY = /\b(ticker|symbol|isin|cusip|wkn)\b/;
const QUANTITY = /\b(quantity|qty|shares|units|stuck|anzahl|menge|cantidad|quantite|quantita|aantal|ilosc|antal)\b/;

/** Whether most rows trade securities instead of spending money. */
function listsTrades(headers: string[], rows: CsvRow[]): boolean {
  const plain = headers.map(plainHeader);
  const quantity = plain.findIndex((header) => QUANTITY.test(header));
  return quantity >= 0 && plain.some((header) => SECURITY.test(header)) &&
    rows.filter(({ cells }) => readMoney(cells[quantity] ?? "")).length * 2 > rows.length;
}

export function readCsvStatement(csv: string, mapping: Mapping, mostRows: number): Statement | ImportProblem {
  const limits = { maxRows: MAX_HEADER_ROW + mostRows, maxCells: MAX_COLUMNS };
  const { rows: read, delimiter: sign, stoppedAt } = readCsv(csv, { ...limits, delimiter: knownDelimiter(csv) });
  if (read.length === 0) return { code: "invalid_argument.file_empty", field: "csv" };
  if (stoppedAt === "cells") {
    const params = { line: read.at(-1)!.line, most: MAX_COLUMNS };
    return { code: "invalid_argument.too_many_columns", params, field: "csv" };
  }
  completeDays(read);
  const found = findColumns(read, mapping);
  if ("missing" in found) {
    const params = { name: mapping[found.missing], columns: columnNames(found.headers) };
    return { code: "invalid_argument.no_such_column", params, field: `mapping.${found.missing}` };
  }
  const { headers, columns, headerLine, layout } = found;
  if (layout?.refused) {
    const names = headers.map(plainHeader);
    return refuseBills(found.rows.map(({ cells }) => new Map(names.map((name, i) => [name, cells[i] ?? ""]))));
  }
  if (!layout && FIELDS.every((field) => !mapping[field]) && listsTrades(headers, found.rows)) {
    return refuse("list of securities trades");
  }
  const { rows: below, footer } = splitFooter(found.rows, columns.date?.[0] ?? 0);
  const { rows: all, ...sections } = findSections(below, {
    ...{ headers: headerLine === undefined ? undefined : headers, above: found.preamble },
    date: columns.date?.[0] ?? 0,
  });
  const rows = layout ? withText(all, columns) : joinContinued(all, columns);
  if (stoppedAt === "rows" || rows.length > mostRows) return tooLong(mostRows);
  if (rows.length === 0) return { code: "invalid_argument.file_without_rows", field: "csv" };
  const has = (role: Role) => columns[role] !== undefined && columns[role].length > 0;
  // A payee column that a person named does not identify the kind of account.
  const payee = mapping.payee === undefined ? columns.payee?.[0] : undefined;
  const signs = rows.flatMap(({ cells }) => readMoney(cells[columns.amount?.[0] ?? -1] ?? "") ?? []);
  const isMostlyOut = signs.filter(({ isNegative }) => isNegative).length * 2 > signs.length;
  const hints = layout ? undefined : accountHints(headers, found.preamble, {
    hasBalance: has("balance"),
    isShort: rows.length < 3,
    payee,
    isMostlyOut,
  });
  const isCard = layout?.isCard ?? hints?.isCard ?? false;
  const account = findAccount({ ...found, isCard });
  const header = headers.map(plainHeader).join(" | ");
  const missing = !has("date")
    ? "date"
    : !has("amount") && !has("out") && !has("in")
    ? "amount"
    : !has("name") && !has("payee") && headers.some((_, column) => isText(rows, column))
    ? "name"
    : undefined;
  if (missing) return { ...unclear(missing, headers, rows), asks: { header, ...(account && { account }) } };

  const delimiter = DELIMITERS[sign] ?? sign;
  const owner = findOwner(found);
  const lines = readLines(rows, {
    ...found,
    delimiter,
    sections,
    booked: layout ? undefined : bookingDay(found, rows),
  });
  const currencies = [columns.amount, columns.out, columns.in, columns.balance]
    .flatMap((places) => places?.[0] === undefined ? [] : currencyInHeader(headers[places[0]]!) ?? []);
  const currency = currencies[0] ?? layout?.currency ?? currencyAbove(found.preamble);
  const dates = layout ? layout.dates : orderAbove(found.preamble);
  const isMoved = mapping.amount !== undefined && layout !== undefined;
  return {
    lines,
    header,
    ...(account && { account }),
    ...(owner && { owner }),
    ...(!layout?.isList && { balances: findBalances([...found.preamble, ...footer], lines.length) }),
    conventions: {
      ...(dates && { dates }),
      ...(layout?.decimal && { decimal: layout.decimal }),
      ...(layout?.spends && !isMoved && { spends: layout.spends }),
      isCard,
      isCreditCard: hints?.isCreditCard ?? false,
      isStatement: layout
        ? !layout.isList
        : hints!.isStatement || (!columns.direction && headers.some((_, column) => tellsSides(rows, column))),
      isAccount: hints?.isAccount ?? false,
      isListOfPayees: hints?.isListOfPayees ?? false,
      isKnown: layout !== undefined,
      hasSpendingCategories: layout?.hasSpendingCategories ?? false,
    },
    ...(currency ? { currency } : !layout && { suggests: suggestCurrencies(headers, account?.number) }),
    mapping: {
      ...Object.fromEntries(NAMED.flatMap((role) => has(role) ? [[role, headers[columns[role]![0]!]]] : [])),
      ...(has("out") && { amount: headers[columns.out![0]!] }),
      ignored: ignoredColumns(headers, columns),
      ...(layout && { layout: layout.name }),
      ...(headerLine && { header_line: headerLine }),
      delimiter,
    },
    assumed: found.assumed,
  };
}

/** More than the number of lines above any known header. */
const MAX_PREAMBLE = 8192;

/** The delimiter under which a line is the header of a known export, because lines above it may mislead a guess. */
function knownDelimiter(csv: string): string | undefined {
  const start = csv.slice(0, MAX_PREAMBLE);
  if (/^sep=/i.test(start)) return undefined;
  return [",", ";", "\t"].find((delimiter) =>
    readCsv(start, { maxRows: MAX_HEADER_ROW, maxCells: MAX_COLUMNS, delimiter }).rows
      .some(({ cells }) => cells.length > 2 && findLayout(cells.map(plainHeader)) !== undefined)
  );
}

/** Whether a column may mark income with unknown words. */
const tellsSides = (rows: CsvRow[], column: number): boolean =>
  mayBeIncome(rows, column) || someCameIn(rows, column) || hasTwoMarks(rows, column);

/** Lists the columns that may be the field, each with the values of its first rows. */
function unclear(field: "date" | "amount" | "name", headers: string[], rows: CsvRow[]): ImportProblem {
  const looks = (column: number) =>
    field === "name"
      ? isText(rows, column)
      : looksLike(rows, column, field) && (field === "date" || !looksLike(rows, column, "date"));
  const candidates = headers.flatMap((_, column) => looks(column) ? column : []).slice(0, MAX_CANDIDATES)
    .map((column) => ({
      header: shorten(headers[column]!, 40),
      samples: rows.flatMap(({ cells }) => cells[column] || []).slice(0, 3).map((cell) => shorten(cell, 30)),
    }));
  const params = { column: field, columns: columnNames(headers), candidates };
  return { code: "invalid_argument.column_unclear", params, field: `mapping.${field}` };
}
/** The number of candidates that a person can distinguish. */
const MAX_CANDIDATES = 8;
/** The number of columns that an answer lists. */
const MAX_NAMED = 30;
const columnNames = (headers: string[]) => headers.slice(0, MAX_NAMED).map((header) => shorten(header, 40));
const ignoredColumns = (headers: string[], columns: Partial<Record<Role, number[]>>) => {
  // Other columns of texts and days only replace empty ones.
  const first = (role: Role) => columns[role]?.slice(0, 1) ?? [];
  const used = new Set(Object.values({ ...columns, name: first("name"), date: first("date") }).flat());
  return columnNames(headers.filter((_, column) => !used.has(column)));
};
