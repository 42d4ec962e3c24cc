/** The texts of a page and their positions (ISO 32000-1, 9.4), without invisible and sloped text. */
import type { Piece } from "../text/lines.ts";
import { isStream, type PdfFile } from "./file.ts";
import { toLetters } from "./filters.ts";
import { type Font, readFont } from "./font.ts";
import type { Page } from "./pages.ts";
import { type Dict, Name, type Value, ValueReader, Word } from "./values.ts";

/** a b c d e f: x' = ax + cy + e, y' = bx + dy + f. */
type Matrix = [number, number, number, number, number, number];

const UNIT: Matrix = [1, 0, 0, 1, 0, 0];
/** Clockwise, in quarter turns. */
const TURNS: Matrix[] = [UNIT, [0, -1, 1, 0, 0, 0], [-1, 0, 0, -1, 0, 0], [0, 1, -1, 0, 0, 0]];
const DEEPEST_FORM = 6;
const MOST_STATES = 200;
/** The limit for one operator. */
const MOST_VALUES = 1000;
/** The fraction of the size above which a kerning counts as a gap. */
const GAP = 0.2;
const INVISIBLE = 3;

const times = ([a, b, c, d, e, f]: Matrix, [g, h, i, j, k, l]: Matrix): Matrix => [
  ...[a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j] as [number, number, number, number],
  ...[e * g + f * i + k, e * h + f * j + l] as [number, number],
];

interface State {
  matrix: Matrix;
  font: Font | undefined;
  size: number;
  letterGap: number;
  wordGap: number;
  scale: number;
  leading: number;
  rise: number;
  mode: number;
}

/** @throws {PdfRefused} when the page takes too much work. */
export function readPage(file: PdfFile, { dict, resources, turns }: Page): Piece[] {
  const contents = file.get(dict.get("Contents"));
  const streams = Array.isArray(contents) ? contents : [dict.get("Contents") ?? null];
  const text = streams.map((one) => {
    const stream = file.resolve(one);
    return isStream(stream) ? toLetters(file.bytesOf(stream) ?? new Uint8Array()) : "";
  }).join("\n");
  const reader = new PageReader(file);
  const start = { font: undefined, size: 0, letterGap: 0, wordGap: 0, scale: 1, leading: 0, rise: 0, mode: 0 };
  reader.read(text, resources, { ...start, matrix: TURNS[turns]! });
  return reader.pieces;
}

class PageReader {
  readonly pieces: Piece[] = [];
  readonly #fonts = new Map<Dict, Font>();

  constructor(readonly file: PdfFile) {}

  read(text: string, resources: Dict, start: State, depth = 0): void {
    const reader = new ValueReader(text, this.file.budget);
    const states: State[] = [];
    let state = start;
    let [line, at] = [UNIT, UNIT];
    let values: Value[] = [];
    const number = (i: number) => {
      const value = values.at(i);
      return typeof value === "number" ? value : 0;
    };
    const next = (x: number, y: number) => at = line = times([1, 0, 0, 1, x, y], line);
    const show = (shown: Value | undefined) => at = this.#show(shown, state, at);
    const run: Record<string, () => unknown> = {
      q: () => states.length < MOST_STATES && states.push({ ...state }),
      Q: () => state = states.pop() ?? state,
      cm: () => state = { ...state, matrix: times([-6, -5, -4, -3, -2, -1].map(number) as Matrix, state.matrix) },
      BT: () => at = line = UNIT,
      Tf: () => state = { ...state, font: this.#fontIn(resources, values.at(-2)), size: number(-1) },
      Tc: () => state = { ...state, letterGap: number(-1) },
      Tw: () => state = { ...state, wordGap: number(-1) },
      Tz: () => state = { ...state, scale: number(-1) / 100 },
      TL: () => state = { ...state, leading: number(-1) },
      Ts: () => state = { ...state, rise: number(-1) },
      Tr: () => state = { ...state, mode: number(-1) },
      Td: () => next(number(-2), number(-1)),
      TD: () => {
        state = { ...state, leading: -number(-1) };
        next(number(-2), number(-1));
      },
      Tm: () => at = line = [-6, -5, -4, -3, -2, -1].map(number) as Matrix,
      "T*": () => next(0, -state.leading),
      Tj: () => show(values.at(-1)),
      TJ: () => show(values.at(-1)),
      "'": () => {
        next(0, -state.leading);
        show(values.at(-1));
      },
      '"': () => {
        state = { ...state, wordGap: number(-3), letterGap: number(-2) };
        next(0, -state.leading);
        show(values.at(-1));
      },
      Do: () => this.#runForm(resources, values.at(-1), state, depth),
      ID: () => {
        // The bytes of a picture within the text.
        const end = reader.text.slice(reader.at).search(/[\s]EI(?=\s)/);
        reader.at = end < 0 ? reader.text.length : reader.at + end + 3;
      },
    };
    for (let value = reader.next(); value !== undefined; value = reader.next()) {
      if (value instanceof Word) {
        if (Object.hasOwn(run, value.word)) run[value.word]!();
        values = [];
      } else if (values.push(value) > MOST_VALUES) values = [];
    }
  }

  #fontIn(resources: Dict, name: Value | undefined): Font | undefined {
    if (!(name instanceof Name)) return undefined;
    const dict = this.file.dictIn(this.file.dictIn(resources.get("Font")).get(name.name));
    const font = this.#fonts.get(dict) ?? readFont(this.file, dict);
    this.#fonts.set(dict, font);
    return font;
  }

  #runForm(resources: Dict, name: Value | undefined, state: State, depth: number): void {
    if (!(name instanceof Name) || depth === DEEPEST_FORM) return;
    this.file.budget.spend(10);
    const form = this.file.resolve(this.file.dictIn(resources.get("XObject")).get(name.name));
    if (!isStream(form) || this.file.nameAt(form.dict, "Subtype") !== "Form") return;
    const matrix = this.file.arrayIn(form.dict.get("Matrix")).map((one) => this.file.get(one));
    const own = matrix.length === 6 && matrix.every((one) => typeof one === "number") ? matrix as Matrix : UNIT;
    const inner = this.file.dictIn(form.dict.get("Resources"));
    this.read(
      toLetters(this.file.bytesOf(form) ?? new Uint8Array()),
      inner.size > 0 ? inner : resources,
      { ...state, matrix: times(own, state.matrix) },
      depth + 1,
    );
  }

  /** @returns the position of the next text */
  #show(shown: Value | undefined, state: State, from: Matrix): Matrix {
    const { font, size, letterGap, wordGap, scale, rise, mode, matrix } = state;
    let along = 0;
    const here = () => times([1, 0, 0, 1, along, 0], from);
    for (const part of Array.isArray(shown) ? shown : [shown]) {
      if (typeof part === "number") along -= part / 1000 * size * scale;
      if (typeof part !== "string" || !font) continue;
      const start = times([size * scale, 0, 0, size, 0, rise], times(here(), matrix));
      const isSeen = start[0] > 0 && Math.abs(start[1]) < 0.05 * start[0] && start[3] > 0 && mode !== INVISIBLE;
      const letters: string[] = [];
      for (const { letter, width, isSpace } of font(part)) {
        letters.push(letter);
        along += (width * size + letterGap + (isSpace ? wordGap : 0)) * scale;
      }
      const end = times(here(), matrix)[4] - letterGap * scale * Math.abs(matrix[0]);
      if (isSeen && letters.length > 0) {
        this.#add({ x: start[4], end, y: start[5], size: start[3], text: letters.join("") });
      }
    }
    return here();
  }

  /** Join parts of one text into one piece. */
  #add(piece: Piece): void {
    const last = this.pieces.at(-1);
    const gap = last ? piece.x - last.end : 0;
    if (last && last.y === piece.y && last.size === piece.size && Math.abs(gap) < GAP * piece.size) {
      last.text += piece.text;
      last.end = piece.end;
    } else this.pieces.push(piece);
  }
}
