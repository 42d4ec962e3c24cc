/**
 * Maps columns to fields. A column is a day or an amount only if the caller, a known export or its header names it, or
 * a balance proves it in every row. The contents alone could mistake a reference number for an amount.
 */
import type { Said } from "../words/message.ts";
import type { Assumption } from "../words/words.ts";
import {
  byTexts,
  countMoved,
  currencyInHeader,
  distinctTexts,
  fillMarks,
  FOREIGN,
  isCurrencies,
  isDirections,
  isText,
  looksLike,
  saysCurrency,
  saysTheSame,
  saysUnbooked,
} from "./cell_looks.ts";
import { compoundsOf, currenciesOf, daysOf, settleSides, tellCharges } from "./choose_columns.ts";
import { splitFooter } from "./formats/csv_account.ts";
import { findHeader } from "./find_header.ts";
import { type Field, FIELDS, isSameHeader, plainHeader, rankOf, type Role } from "./header_words.ts";
import type { KnownLayout, RoleColumns } from "./layouts/mod.ts";
import { addsFees, complementOf, findBalance, proveAmounts } from "./prove_columns.ts";
import type { CsvRow } from "./read_csv.ts";
import type { DecimalSign } from "./money_text.ts";

/** The tool's `mapping` argument: column names and conventions. */
export type Mapping = Partial<Record<Field, string>> & {
  date_format?: "YYYY-MM-DD" | "DD/MM/YYYY" | "MM/DD/YYYY" | "DD.MM.YYYY";
  decimal?: DecimalSign;
  negative_is_expense?: boolean;
};

export interface FoundColumns {
  /** The header as written; "Column 1" … when there is none. */
  headers: string[];
  /** Line of the header; undefined without one. */
  headerLine?: number;
  columns: RoleColumns;
  layout?: KnownLayout["layout"] | undefined;
  /** Rows above the header, about the account. */
  preamble: CsvRow[];
  /** Rows below the header. */
  rows: CsvRow[];
  assumed: (Said & { code: Assumption })[];
}

/** A column that the caller named but the file does not have. */
export interface MissingColumn {
  missing: Field;
  headers: string[];
}

/** The most distinctive roles choose their columns first. */
const ORDER: Role[] = [
  ...["date", "out", "in", "balance", "amount", "currency", "state", "category", "payee", "name", "note", "type"],
  ...["url", "fee", "original_amount", "original_currency"],
] as Role[];

const MONEY: Role[] = ["amount", "out", "in", "balance"];

export function findColumns(all: CsvRow[], mapping: Mapping): FoundColumns | MissingColumn {
  const { index, known } = findHeader(all, FIELDS.flatMap((field) => mapping[field] || []));
  const rows = all.slice(index + 1);
  const width = index < 0 ? Math.max(...rows.map(({ cells }) => cells.length)) : all[index]!.cells.length;
  const headers = Array.from(
    { length: width },
    (_, column) => (index < 0 ? "" : all[index]!.cells[column]) || `Column ${column + 1}`,
  );
  const told = namedColumns(headers, mapping);
  if ("missing" in told) return { missing: told.missing, headers };
  const base = {
    headers,
    rows,
    preamble: all.slice(0, Math.max(index, 0)),
    ...(index >= 0 && { headerLine: all[index]!.line }),
  };
  if (known) {
    const { layout } = known;
    const columns = settleSides({ ...known.columns, ...told }, told.amount?.[0]);
    return { ...base, columns, assumed: [], layout };
  }
  const { columns, assumed } = guessColumns(base, told, mapping);
  return { ...base, columns, assumed };
}

/** Columns that the caller named, by header or number; an empty name excludes the field. */
function namedColumns(headers: string[], mapping: Mapping): RoleColumns | { missing: Field } {
  const plainHeaders = headers.map(plainHeader);
  const columns: RoleColumns = {};
  for (const field of FIELDS) {
    const wanted = mapping[field];
    if (wanted === "") columns[field] = [];
    if (!wanted) continue;
    const exact = headers.findIndex((header) => header === wanted);
    const plain = plainHeader(wanted);
    const like = plainHeaders.findIndex((header) => isSameHeader(header, plain));
    const number = /^\d{1,3}$/.test(wanted) ? Number(wanted) - 1 : -1;
    const column = exact >= 0 ? exact : like >= 0 ? like : number < headers.length ? number : -1;
    if (column < 0) return { missing: field };
    columns[field] = [column];
  }
  return columns;
}

/** "Amount (Debit)" is the amount of one side. */
function rankIn(role: Role, plain: string, header: string): number | undefined {
  const [, inBrackets = ""] = /[([（]([^()[\]（）]{1,40})[)\]）]/.exec(header.slice(0, 100)) ?? [];
  const isSide = (side: Role) => inBrackets !== "" && rankOf(side, plainHeader(inBrackets)) !== undefined;
  const rank = rankOf(role, plain);
  if (!isSide("out") && !isSide("in")) return rank;
  if (role === "amount") return undefined;
  return (role === "out" || role === "in") && rankOf("amount", plain) !== undefined && isSide(role) ? 0 : rank;
}

function guessColumns(
  { headers, headerLine, preamble, rows: all }: Pick<FoundColumns, "headers" | "headerLine" | "preamble" | "rows">,
  told: RoleColumns,
  mapping: Mapping,
): Pick<FoundColumns, "columns" | "assumed"> {
  let rows = all;
  const hasHeader = headerLine !== undefined;
  const plainHeaders = headers.map(plainHeader);
  const assumed: FoundColumns["assumed"] = hasHeader ? [] : [{ code: "no_header" }];
  let columns: RoleColumns = { ...told };
  const isFree = (column: number) => !Object.values(columns).some((used) => used.includes(column));
  const assume = (field: Field, column: number) => {
    columns[field] = [column];
    if (hasHeader) assumed.push({ code: "column_by_cells", params: { field, header: headers[column] } });
  };
  for (const role of ORDER) {
    if (columns[role] !== undefined && role !== "out") continue;
    const isSide = (column: number) => role === "out" && told.amount?.[0] === column;
    const [column] = plainHeaders.map((header, column) => ({ column, rank: rankIn(role, header, headers[column]!) }))
      .filter(({ column, rank }) =>
        rank !== undefined && (isFree(column) || isSide(column)) &&
        // Labels below a table appear in the column of its days.
        looksLike(role === "date" ? splitFooter(rows, column).rows : rows, column, role) &&
        // Account numbers are not names.
        (role !== "payee" || isText(rows, column) || rows.every(({ cells }) => !cells[column]))
      )
      // Of two columns with the same name, one may contain only foreign amounts.
      .toSorted((a, b) =>
        a.rank! - b.rank! || (MONEY.includes(role) ? countMoved(rows, b.column) - countMoved(rows, a.column) : 0)
      );
    if (column) columns[role] = [column.column];
  }
  for (const [role, fits] of compoundsOf(columns)) {
    const found = headers.flatMap((header, column) =>
      isFree(column) && fits(header) && looksLike(rows, column, role) ? column : []
    );
    // Several columns of amounts lead to a question. Among several columns of days, any one is fine.
    if (found.length === 1 || (role === "date" && found.length > 0)) columns[role] = [found[0]!];
  }
  columns = tellCharges(
    settleSides(columns, told.amount?.[0]),
    plainHeaders,
    (column) => isFree(column) && rankIn("out", plainHeaders[column]!, headers[column]!) !== undefined,
  );
  // A row with an empty day uses the next best day.
  if (columns.date?.length && told.date === undefined) {
    const isDay = (column: number) => rankOf("date", plainHeaders[column]!) !== undefined && isFree(column);
    columns.date.push(
      ...headers.flatMap((_, column) => isDay(column) && looksLike(rows, column, "date") ? column : []),
    );
  }
  const free = () => headers.flatMap((_, column) => isFree(column) ? column : []);
  if (!hasHeader && !columns.date) {
    const days = free().filter((column) => looksLike(rows, column, "date"));
    if (days.length > 0) columns.date = [days[0]!];
  }
  const { rows: table, footer } = splitFooter(all, columns.date?.[0] ?? 0);
  // Rows that continue the text above prove nothing.
  const dated = columns.date ? table.filter(({ cells }) => cells[columns.date![0]!]) : table;
  if (dated.length > 0) rows = dated;
  // If a person names only one of two sides, it is spending.
  const [toldAmount] = told.amount ?? [];
  const counterpart = toldAmount === undefined || columns.out ? undefined : complementOf(rows, toldAmount, free());
  if (counterpart !== undefined) {
    const { amount: out, ...rest } = columns;
    columns = { ...rest, out: out!, in: [counterpart] };
  }
  if (!columns.amount) {
    // One side alone is half of the file.
    const [side] = columns.out ?? columns.in ?? [];
    if (side === undefined) {
      const around = [...preamble, ...footer];
      const dayOf = daysOf(rows, columns.date?.[0]);
      const proven = proveAmounts(rows, free(), { balance: columns.balance?.[0], around, isBare: !hasHeader, dayOf });
      columns = { ...columns, ...proven };
    } else if (!(columns.out && columns.in)) {
      const other = complementOf(rows, side, free());
      if (other !== undefined) columns[columns.out ? "in" : "out"] = [other];
      else if (rows.some(({ cells }) => !cells[side])) columns[columns.out ? "out" : "in"] = [];
    }
  }
  const balance = columns.balance ? undefined : findBalance(rows, columns, free());
  if (balance !== undefined) columns.balance = [balance];
  if (columns.amount?.length) {
    const column = headers.findIndex((_, column) =>
      !columns.amount!.includes(column) && (isDirections(rows, column) || (isFree(column) && fillMarks(rows, column)))
    );
    if (column >= 0) columns.direction = [column];
  }
  // A state counts in any column except those of names.
  const named = ([...MONEY, "name", "payee", "category", "currency", "state"] as Role[])
    .flatMap((role) => columns[role] ?? []);
  const states = headers.flatMap((_, column) => !named.includes(column) && saysUnbooked(rows, column) ? column : []);
  if (states.length > 0) columns.state = [...columns.state ?? [], ...states];
  const [money] = columns.amount ?? columns.out ?? columns.in ?? [];
  // A currency in the amounts' header applies to them, even beside a column with the shop's currency.
  if (money !== undefined && told.currency === undefined && currencyInHeader(headers[money]!)) delete columns.currency;
  if (columns.currency === undefined && !saysCurrency(rows, headers, money)) {
    const all = plainHeaders.flatMap((header, column) =>
      isFree(column) && !FOREIGN.test(header) && isCurrencies(rows, column) ? column : []
    );
    const found = money === undefined ? all : currenciesOf(rows, plainHeaders, money, all);
    if (found.length === 1) assume("currency", found[0]!);
    else if (found.length > 1) {
      assumed.push({ code: "several_currencies", params: { headers: found.map((column) => headers[column]) } });
    }
  }
  const [fee] = columns.fee ?? [];
  if (fee !== undefined) {
    const count = rows.filter(({ cells }) => /[1-9]/.test(cells[fee] ?? "")).length;
    const adds = count > 0 && addsFees(rows, columns);
    if (!adds) delete columns.fee;
    if (adds === undefined) assumed.push({ code: "fees_left_out", params: { count, column: headers[fee] } });
  }
  const distinct = (column: number | undefined) => column === undefined ? 0 : distinctTexts(rows, column);
  const [name] = columns.name ?? columns.payee ?? [];
  // A text that most rows repeat, such as the owner's name, is not a payee.
  const isConstant = name !== undefined && told.name === undefined && rows.length > 2 && saysTheSame(rows, name);
  if ((name === undefined || isConstant) && mapping.name !== "") {
    const [best] = free().filter((column) => isText(rows, column) && distinct(column) > distinct(name))
      .toSorted(byTexts(rows));
    if (best !== undefined) {
      if (isConstant && columns.name && !columns.note) columns.note = columns.name;
      assume("name", best);
    } else if (name === undefined) {
      // If a list's only text is a note, its rows contain notes.
      const role = (["note", "category", "type"] as const).find((role) =>
        told[role] === undefined && columns[role]?.some((column) => isText(rows, column))
      );
      if (role) {
        columns.name = columns[role]!;
        delete columns[role];
      }
    }
  }
  // A row without a name uses its next best text as its name.
  if (columns.name?.length && told.name === undefined) {
    const varies = (column: number) => distinct(column) > 1 || rows.some(({ cells }) => !cells[column]);
    const texts = free().filter((column) => isText(rows, column) && varies(column) && !saysTheSame(rows, column));
    const [next, ...others] = texts.toSorted(byTexts(rows));
    if (next !== undefined) columns.name = [...columns.name, next, ...others];
    if (next !== undefined && !columns.note) columns.note = [next];
  }
  return { columns, assumed };
}
