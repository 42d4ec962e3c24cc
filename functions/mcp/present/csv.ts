/** A CSV file (RFC 4180) that is safe to open in a spreadsheet. */

/** @param rows each by column; what is missing stays empty. @returns lines that each end in CR LF, the header first. */
export const writeCsv = (columns: readonly string[], rows: readonly Record<string, unknown>[]): string =>
  [columns, ...rows.map((row) => columns.map((column) => field(String(row[column] ?? ""), column)))]
    .map((fields) => `${fields.join(",")}\r\n`).join("");

/** Spreadsheets run what begins like a formula, full-width signs included; typed text must stay text, and an amount may be negative. */
function field(value: string, column: string): string {
  const text = column.endsWith("amount") ? value : value.replace(/^(?=[=+@\t\r\n＝＋－＠-])/, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
