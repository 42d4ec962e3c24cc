/** Gives each line of a file its own number, because programs write whole documents on one line. */
import type { RawLine } from "../statement.ts";

/** @returns the lines with their positions in the file's text, or counted from 1 when two share a position */
export function numberLines(lines: RawLine[]): RawLine[] {
  const isDistinct = lines.every(({ line }, i) => i === 0 || line > lines[i - 1]!.line);
  return isDistinct ? lines : lines.map((line, i) => ({ ...line, line: i + 1 }));
}
