/** Results as tables for people, in Markdown. */
import { isMet, type Row, type Target } from "./row.ts";

type Targets = Readonly<Record<string, Target>>;

const UNITS: Record<Row["unit"], string> = { times: "", ms: " ms", kB: " kB", lines: " lines", "": "" };

/** One run. */
export function table(rows: readonly Row[], targets: Targets): string {
  const lines = rows.map((row) => {
    const { value } = row;
    return [
      row.name,
      told(row),
      value.low === value.high ? "" : `${figure(value.low)} to ${figure(value.high)}`,
      ...judged([row], targets[row.name]),
      row.errors > 0 ? `${row.errors} errors; ${row.detail}` : row.detail,
    ];
  });
  return markdown([["What", "Median", "Quartiles", "Target", "Met", "Measured"], ...lines]);
}

/** Two runs side by side. Both must meet a target. */
export function comparison(first: readonly Row[], second: readonly Row[], targets: Targets): string {
  const lines = pairs(first, second).map(([one, other]) => [
    other.name,
    told(one),
    told(other),
    ...judged([one, other], targets[other.name]),
    other.detail,
  ]);
  return markdown([["What", "First run", "Second run", "Target", "Met", "Measured in the second run"], ...lines]);
}

/** Rows in which two runs differ by more than this fraction, such as `webhook / floor 17 %`. */
export const differences = (first: readonly Row[], second: readonly Row[], most: number): string[] =>
  pairs(first, second).flatMap(([one, other]) => {
    const part = 1 - Math.min(comparable(one), comparable(other)) / Math.max(comparable(one), comparable(other));
    return part > most ? [`${other.name} ${Math.round(part * 100)} %`] : [];
  });

const comparable = ({ value, onMachine = value }: Row): number => onMachine.median;

const pairs = (first: readonly Row[], second: readonly Row[]): [Row, Row][] =>
  second.flatMap((other) => {
    const one = first.find(({ name }) => name === other.name);
    return one ? [[one, other]] : [];
  });

const judged = (rows: readonly Row[], target: Target | undefined): [string, string] =>
  target
    ? [
      `${target.atLeast ? "≥" : "≤"} ${target.limit}${UNITS[rows[0]!.unit]}`,
      rows.every((row) => isMet(row, target)) ? "yes" : "no",
    ]
    : ["", ""];

const told = ({ value, unit }: Row): string => figure(value.median) + UNITS[unit];

const figure = (value: number) =>
  Number.isInteger(value) || value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

function markdown(lines: readonly string[][]): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const write = (line: string[]) => `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  return [write(lines[0]!), `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`, ...lines.slice(1).map(write)]
    .join("\n");
}
