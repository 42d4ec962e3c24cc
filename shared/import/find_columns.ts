/**
 * Maps columns to what they hold: by the caller's mapping, by the export that the header line belongs to, else by the
 * words of the header and the contents of the cells.
 */
import type { Said } from "../words/message.ts";
import type { Assumption } from "../words/words.ts";
import { FOREIGN, isCurrencies, isDirections, isText, looksLike, saysCurrency } from "./cell_looks.ts";
import { findHeader } from "./find_header.ts";
import { type Field, FIELDS, isSameHeader, plainHeader, rankOf, type Role } from "./header_words.ts";
import type { KnownLayout, RoleColumns } from "./layouts/mod.ts";
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

/** The most distinctive roles choose first. */
const ORDER: Role[] = [
  ...["date", "out", "in", "balance", "amount", "currency", "state", "category", "payee", "name", "note", "type"],
  ...["url", "original_amount", "original_currency"],
] as Role[];

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
  const { columns, assumed } = guessColumns(headers, rows, told, mapping, index >= 0);
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

/** Columns of money out and in, or one of amounts. @param told the column that the caller named as the amount. */
function settleSides({ out, in: into, amount, ...rest }: RoleColumns, told: number | undefined): RoleColumns {
  const isAlone = !amount?.length && (out || into);
  const isSided = told === undefined ? isAlone || (out && into) : out?.includes(told);
  return isSided ? { ...rest, ...(out && { out }), ...(into && { in: into }) } : { ...rest, ...(amount && { amount }) };
}

function guessColumns(
  headers: string[],
  rows: CsvRow[],
  told: RoleColumns,
  mapping: Mapping,
  hasHeader: boolean,
): Pick<FoundColumns, "columns" | "assumed"> {
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
    const [column] = plainHeaders.map((header, column) => ({ column, rank: rankOf(role, header) }))
      .filter(({ column, rank }) =>
        rank !== undefined && (isFree(column) || isSide(column)) && looksLike(rows, column, role)
      )
      .toSorted((a, b) => a.rank! - b.rank!);
    if (column) columns[role] = [column.column];
  }
  columns = settleSides(columns, told.amount?.[0]);
  for (const field of ["date", "amount"] as const) {
    if (columns[field] !== undefined || (field === "amount" && (columns.out || columns.in))) continue;
    const column = headers.findIndex((_, column) => isFree(column) && looksLike(rows, column, field));
    if (column >= 0) assume(field, column);
  }
  if (columns.amount?.length) {
    const column = headers.findIndex((_, column) => !columns.amount!.includes(column) && isDirections(rows, column));
    if (column >= 0) columns.direction = [column];
  }
  if (
    columns.currency === undefined && !saysCurrency(rows, headers, (columns.amount ?? columns.out ?? columns.in)?.[0])
  ) {
    const found = plainHeaders.flatMap((header, column) =>
      isFree(column) && !FOREIGN.test(header) && isCurrencies(rows, column) ? column : []
    );
    if (found.length === 1) assume("currency", found[0]!);
    else if (found.length > 1) {
      assumed.push({ code: "several_currencies", params: { headers: found.map((column) => headers[column]) } });
    }
  }
  if (!columns.name?.length && !columns.payee?.length) {
    const column = headers.findIndex((_, column) => isFree(column) && isText(rows, column));
    if (column >= 0 && mapping.name !== "") assume("name", column);
  }
  return { columns, assumed };
}
