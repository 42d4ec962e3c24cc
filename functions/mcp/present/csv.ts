/** Writes CSV (RFC 4180) that is safe to open in a spreadsheet. */

/** @param rows by column; missing values stay empty. @returns lines ending in CR LF, the header first. */
export const writeCsv = (columns: readonly string[], rows: readonly Record<string, unknown>[]): string =>
  [columns, ...rows.map((row) => columns.map((column) => field(String(row[column] ?? ""), column)))]
    .map((fields) => `${fields.join(",")}\r\n`).join("");

/**
 * Spreadsheets run what starts like a formula, including full-width signs; typed text must stay text, but amounts may
 * be negative.
 */
function field(value: string, column: string): string {
  const text = column.endsWith("amount") ? value : value.replace(/^(?=[=+@\t\r\n＝＋－＠-])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
