/** Markdown tables, for hosts that draw nothing. */

/** Typed text as a cell: it stays text. */
export const cell = (text: string): string => text.replace(/\s+/g, " ").replace(/[\\`*_[\]<>|~]/g, "\\$&");

/** @param columns right-aligned where they hold amounts; @param rows of cells that are ready. */
export const table = (columns: readonly { head: string; isAmount?: boolean }[], rows: readonly string[][]): string =>
  [columns.map(({ head }) => head), columns.map(({ isAmount }) => isAmount ? "---:" : "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`).join("\n");
