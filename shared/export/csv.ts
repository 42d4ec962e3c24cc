/** Writes CSV (RFC 4180) that is safe to open in a spreadsheet. */

/** @param rows by column; missing values stay empty. @returns lines ending in CR LF, the header first if it has one. */
export function writeCsv(
  columns: readonly string[],
  rows: readonly Record<string, unknown>[],
  hasHeader = true,
): string {
  // Line by line, because a list of all cells costs more garbage collection than the text itself.
  let text = hasHeader ? `${columns.join(",")}\r\n` : "";
  for (const row of rows) {
    text += `${columns.map((column) => field(String(row[column] ?? ""), column)).join(",")}\r\n`;
  }
  return text;
}

/** Columns that contain only numbers, including negative ones. */
const NUMBERS = /(^|_)(amount|tax|net|gross|month_days)$/;

/** Spreadsheets evaluate text that starts like a formula, including full-width signs. */
function field(value: string, column: string): string {
  const text = NUMBERS.test(column) ? value : value.replace(/^(?=[=+@\t\r\n＝＋－＠-])/, "'");
  // With a string, replaceAll() takes three times as long for a cell of many quotation marks.
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
