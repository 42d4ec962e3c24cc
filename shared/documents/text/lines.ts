/** Groups pieces of text into lines, and lines into cells, as a person sees them. */

/** A text and its position, in points from the left and the bottom. */
export interface Piece {
  x: number;
  end: number;
  y: number;
  size: number;
  text: string;
}

export interface Cell {
  x: number;
  end: number;
  text: string;
}

/** From left to right. */
export type Line = Cell[];

/** The size of the letters. */
const SAME_LINE = 0.4;
const NEXT_WORD = 0.15;
const NEXT_CELL = 0.9;
const LONGEST_CELL = 300;

/** @param pieces of one page. */
export function linesOf(pieces: Piece[]): Line[] {
  const rows: Piece[][] = [];
  for (const piece of pieces.toSorted((one, other) => other.y - one.y)) {
    const row = rows.at(-1);
    if (row && row[0]!.y - piece.y < SAME_LINE * Math.min(row[0]!.size, piece.size)) row.push(piece);
    else rows.push([piece]);
  }
  return rows.map((row) => cellsOf(row.sort((one, other) => one.x - other.x))).filter((line) => line.length > 0);
}

function cellsOf(row: Piece[]): Line {
  const cells: Cell[] = [];
  for (const { x, end, size, text } of row) {
    const last = cells.at(-1);
    const gap = last ? x - last.end : 0;
    if (last && gap < NEXT_CELL * size) {
      last.text += (gap > NEXT_WORD * size ? " " : "") + text;
      last.end = Math.max(last.end, end);
    } else cells.push({ x, end, text });
  }
  return cells.flatMap(split);
}

/** Several spaces separate columns of typed text. */
function split({ x, end, text }: Cell): Cell[] {
  const width = (end - x) / Math.max(1, text.length);
  const cells: Cell[] = [];
  for (const match of text.matchAll(/\S(?:[^\s]|[^\S\t](?![^\S\t]))*/g)) {
    const plain = match[0].replace(/\s+$/, "").slice(0, LONGEST_CELL);
    const from = x + width * match.index;
    cells.push({ x: from, end: from + width * plain.length, text: plain });
  }
  return cells;
}

/** Typed text, such as a mail's. */
export const typedLines = (text: string): Line[] =>
  text.split(/\r?\n/).map((line) => {
    const plain = line.replace(/^[>\s]+/, "");
    return split({ x: 0, end: plain.length, text: plain });
  }).filter((line) => line.length > 0);
