/** Joins table rows that only continue the text of the row above. */
import { readDate } from "../date_text.ts";
import { readMoney } from "../money_text.ts";
import type { Role } from "../header_words.ts";
import type { RoleColumns } from "../layouts/mod.ts";
import type { CsvRow } from "../read_csv.ts";

const MONEY: Role[] = ["amount", "out", "in", "balance"];
/** Longer continuations do not occur in statements. */
const MOST_TEXT = 1000;

/** Rows of an export that contain more than a balance. */
export const withText = (rows: CsvRow[], { date, name, payee, amount, out, in: into }: RoleColumns): CsvRow[] =>
  rows.filter(({ cells }) =>
    [date, name, payee, amount, out, into].some((columns) => columns?.some((column) => cells[column]))
  );

export function joinContinued(rows: CsvRow[], columns: RoleColumns): CsvRow[] {
  const [date] = columns.date ?? [];
  const [name] = columns.name ?? columns.payee ?? [];
  if (date === undefined || name === undefined) return rows;
  const silent = [date, ...MONEY.flatMap((role) => columns[role] ?? [])];
  const joined: CsvRow[] = [];
  for (const row of rows) {
    const above = joined.at(-1);
    const isContinued = silent.every((column) => !row.cells[column]) && !row.cells.some(readDate) &&
      (above === undefined || readDate(above.cells[date] ?? ""));
    if (!isContinued) joined.push(row);
    else if (above && (above.cells[name] ?? "").length < MOST_TEXT) {
      const texts = row.cells.filter((cell) => cell !== "" && !readMoney(cell));
      above.cells[name] = [above.cells[name] ?? "", ...texts].join(" ").trim();
    }
  }
  return joined;
}
