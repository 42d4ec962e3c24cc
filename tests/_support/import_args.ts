/** Arguments of `import_expenses` in the connector's form. */
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import type { ImportRow } from "../../shared/import/read_import.ts";

/** A call with these rows as a short file. @param rows with the bank's words, or only a name */
export const importOf = (rows: (Omit<ImportRow, "text"> & { text?: string })[]) => ({
  step: "all",
  file: "rows",
  row_count: rows.length,
  through: Math.max(...rows.map(({ line }) => line)),
  rows: rows.map((row) => ({ text: row.name, ...row })),
  rows_bad: [],
  left_out_rows: [],
  read: { mapping: { assumed: [] }, questions: [], left_out: [], warnings: [] },
});

/** A call with a file. @param more further arguments of the tool */
export function importOfFile(csv: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const parsed = importExpenses.parse({ csv, ...more });
  if (!parsed.ok) throw new Error(parsed.error.code);
  return parsed.value;
}
