/** The result as a table for people, in Markdown. */
import { isMet, type Row, type Target } from "./row.ts";

const UNITS = { times: "", ms: " ms", kB: " kB" };

export function table(rows: readonly Row[], targets: Readonly<Record<string, Target>>): string {
  const lines = rows.map((row) => {
    const target = targets[row.name];
    const unit = UNITS[row.unit];
    return [
      row.name,
      figure(row.value.median) + unit,
      row.value.low === row.value.high ? "" : `${figure(row.value.low)} to ${figure(row.value.high)}`,
      target ? `${target.atLeast ? "≥" : "≤"} ${target.limit}${unit}` : "",
      target ? (isMet(row, target) ? "yes" : "no") : "",
      row.errors > 0 ? `${row.errors} errors; ${row.detail}` : row.detail,
    ];
  });
  const all = [["What", "Median", "Quartiles", "Target", "Met", "Measured"], ...lines];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const write = (line: string[]) => `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [write(all[0]!), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...all.slice(1).map(write)]
    .join("\n");
}

const figure = (value: number) => value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
