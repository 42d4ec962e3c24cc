/** Formats amounts, dates and tables for the demo. */

/** `€14.50`, from a decimal string, with the currency's decimals. */
export function money({ amount, currency }: { amount: string; currency: string }): string {
  const decimals = amount.split(".")[1]?.length ?? 0;
  return new Intl.NumberFormat("en", { style: "currency", currency, minimumFractionDigits: decimals })
    .format(amount as Intl.StringNumericLiteral);
}

/** `Thu 19 Nov`, from a calendar date. */
export function day(date: string): string {
  return new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" })
    .format(new Date(`${date}T00:00:00Z`)).replace(",", "");
}

export const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Lines with aligned columns. Columns from `rightFrom` on (counted from 0) are right-aligned. */
export function table(rows: string[][], rightFrom: number): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    column < rightFrom ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  return rows.map((row) => row.map(pad).join("   ")).join("\n");
}
