/** The cells of a CSV file and the line each row begins on; Papa Parse does the reading (RFC 4180 and what programs make of it). */
// @ts-types="@types/papaparse"
import Papa from "papaparse";

export interface CsvRow {
  /** Line of the file, from 1; a quoted cell may span several. */
  line: number;
  cells: string[];
}

export interface Csv {
  rows: CsvRow[];
  delimiter: string;
}

/** Rows that have anything in them. A quote that never ends takes the rest of the file into its cell. */
export function readCsv(text: string): Csv {
  // "sep=;" is how Excel is told; it is no row.
  const told = /^sep=(.)\r?\n/i.exec(text)?.[1];
  const rows: CsvRow[] = [];
  let delimiter = ",";
  let position = 0;
  let line = 1;
  Papa.parse<string[]>(text, {
    delimiter: told,
    delimitersToGuess: [",", ";", "\t", "|"],
    step({ data, meta }) {
      delimiter = meta.delimiter;
      const cells = data.map((cell) => cell.trim());
      if (cells.some((cell) => cell !== "") && !(told && line === 1)) rows.push({ line, cells });
      line += countLines(text.slice(position, meta.cursor));
      position = meta.cursor;
    },
  });
  return { rows, delimiter };
}

const countLines = (text: string) => text.match(/\r\n|\r|\n/g)?.length ?? 0;
