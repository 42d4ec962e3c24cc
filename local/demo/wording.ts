/** Amounts, dates and tables in words, for the demo's reader. */

/** `€14.50`, from a decimal string, with the currency's own decimals. */
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

/** Columns of equal width, the last one aligned right. */
export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row.map((cell, column) => column === row.length - 1 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))
      .join("   ")
  ).join("\n");
}
