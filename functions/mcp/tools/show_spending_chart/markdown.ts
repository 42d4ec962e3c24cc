/** Markdown tables, for hosts that cannot show charts. */

/** Escapes user text for a table cell. */
export const cell = (text: string): string => text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>|~]/g, "\\$&");

/** @param columns right-aligned if they contain amounts @param rows of escaped cells */
export const table = (columns: readonly { head: string; isAmount?: boolean }[], rows: readonly string[][]): string =>
  [columns.map(({ head }) => head), columns.map(({ isAmount }) => isAmount ? "---:" : "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
