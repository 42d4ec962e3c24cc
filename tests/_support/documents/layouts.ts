/** Ten layouts of invoices on paper, as texts with positions. */
import type { PdfText } from "./pdf.ts";

/** Words of one language, and the invoice's texts in it. */
export interface Paper {
  sender?: string;
  title: string;
  /** Name and value, such as the number and the days. */
  fields: [name: string, value: string][];
  /** Quantity, text and amount. */
  lines: [string, string, string][];
  columns?: string[];
  totals: [name: string, ...amounts: string[]][];
  /** The last part of the page, such as the account. */
  foot: string[];
}

export type Layout = (paper: Paper) => PdfText[][];

const at = (x: number, y: number, text: string, size = 10): PdfText => ({ x, y, text, size });
/** A Latin letter is 0.55 wide in the samples' font. */
const rightAt = (end: number, y: number, text: string, size = 10) => at(end - 0.55 * size * text.length, y, text, size);

const table = ({ columns, lines }: Paper, y: number): PdfText[] => [
  ...(columns ?? []).map((name, i) => at([50, 120, 430][i]!, y, name)),
  ...lines.flatMap(([quantity, text, amount], i) => {
    const line = y + 18 * (i + 1);
    return [at(50, line, quantity), at(120, line, text), rightAt(520, line, amount)];
  }),
];
const totals = (paper: Paper, y: number, x = 330): PdfText[] =>
  paper.totals.flatMap(([name, ...amounts], i) => [
    at(x, y + 16 * i, name),
    ...amounts.map((amount, j) => rightAt(520 - 80 * (amounts.length - 1 - j), y + 16 * i, amount)),
  ]);
const foot = ({ foot }: Paper, y: number) => foot.map((text, i) => at(50, y + 12 * i, text, 8));
const endOf = ({ lines }: Paper, y: number) => y + 18 * (lines.length + 2);

/** A letter with the sender in small print above the address, and fields to the right. */
const letter: Layout = (paper) => [[
  at(50, 120, paper.sender ?? "", 7),
  ...["Sample Household", "Elm Road 5", "10115 Sampletown"].map((text, i) => at(50, 140 + 13 * i, text)),
  ...paper.fields.flatMap(([name, value], i) => [at(350, 140 + 14 * i, name, 9), at(460, 140 + 14 * i, value, 9)]),
  at(50, 250, paper.title, 16),
  ...table(paper, 290),
  ...totals(paper, endOf(paper, 290)),
  ...foot(paper, 760),
]];

/** Fields in a row of columns, their values below. */
const boxes: Layout = (paper) => [[
  at(50, 60, paper.sender ?? "", 8),
  at(50, 90, paper.title, 18),
  ...paper.fields.flatMap(([name, value], i) => [at(50 + 125 * i, 140, name, 8), at(50 + 125 * i, 153, value)]),
  ...table(paper, 200),
  ...totals(paper, endOf(paper, 200)),
  ...foot(paper, 780),
]];

/** Names and values in one text, with a colon. */
const colons: Layout = (paper) => [[
  at(300, 60, paper.sender ?? "", 8),
  at(50, 80, paper.title, 14),
  ...paper.fields.map(([name, value], i) => at(50, 110 + 14 * i, `${name}: ${value}`)),
  ...table(paper, 220),
  ...paper.totals.map(([name, ...amounts], i) => at(330, endOf(paper, 220) + 16 * i, `${name}: ${amounts.join(" ")}`)),
  ...foot(paper, 700),
]];

/** A receipt: narrow, typed with spaces. */
const till: Layout = (paper) => [[
  ...[paper.title, ...paper.fields.map(([name, value]) => `${name}: ${value}`), "--------------------------------"]
    .map((text, i) => at(20, 30 + 12 * i, text, 9)),
  ...paper.lines.map(([quantity, text, amount], i) =>
    at(20, 130 + 12 * i, `${quantity} ${text}`.padEnd(24) + amount.padStart(10), 9)
  ),
  ...paper.totals.map(([name, ...amounts], i) =>
    at(20, 150 + 12 * (paper.lines.length + i), name.padEnd(24) + amounts.join("  ").padStart(10), 9)
  ),
  ...paper.foot.map((text, i) => at(20, 300 + 12 * i, text, 9)),
]];

/** The total first and large, and the rest below. */
const large: Layout = (paper) => {
  const [name, ...amounts] = paper.totals.at(-1)!;
  return [[
    at(50, 60, paper.title, 24),
    ...paper.fields.flatMap(([one, value], i) => [at(50, 90 + 14 * i, one), at(170, 90 + 14 * i, value)]),
    at(50, 180, name, 12),
    at(50, 200, amounts.join(" "), 20),
    ...table(paper, 250),
    ...totals(paper, endOf(paper, 250)),
    ...foot(paper, 760),
  ]];
};

/** Two pages, the second with the totals. */
const pages: Layout = (paper) => {
  const [page] = letter({ ...paper, totals: [], foot: [] }) as [PdfText[]];
  return [page, [at(50, 60, paper.title), ...totals(paper, 100), ...foot(paper, 300)]];
};

/** Totals side by side below their names. */
const side: Layout = (paper) => {
  const [page] = letter({ ...paper, totals: [] }) as [PdfText[]];
  const y = endOf(paper, 290) + 20;
  return [[
    ...page,
    ...paper.totals.flatMap((
      [name, ...amounts],
      i,
    ) => [at(120 + 140 * i, y, name), at(120 + 140 * i, y + 14, amounts[0]!)]),
  ]];
};

/** The fields at the bottom, as a payment slip. */
const slip: Layout = (paper) => [[
  at(50, 60, paper.sender ?? "", 8),
  at(50, 90, paper.title, 16),
  ...table(paper, 130),
  ...totals(paper, endOf(paper, 130)),
  ...paper.fields.flatMap(([name, value], i) => [at(50, 600 + 30 * i, name, 7), at(50, 611 + 30 * i, value)]),
  ...foot(paper, 780),
]];

/** Everything on the right, with names after a gap. */
const right: Layout = (paper) => [[
  rightAt(540, 50, paper.title, 16),
  ...paper.fields.flatMap(([name, value], i) => [rightAt(430, 80 + 14 * i, name), rightAt(540, 80 + 14 * i, value)]),
  at(50, 80, paper.sender ?? "", 8),
  ...table(paper, 200),
  ...totals(paper, endOf(paper, 200), 250),
  ...foot(paper, 760),
]];

/** The output of a word processor: one column of lines. */
const plain: Layout = (paper) => [
  [
    paper.sender ?? "",
    paper.title,
    ...paper.fields.map(([name, value]) => `${name} ${value}`),
    ...paper.lines.map((line) => line.join(" ")),
    ...paper.totals.map((line) => line.join(" ")),
    ...paper.foot,
  ].map((text, i) => at(50, 60 + 15 * i, text)),
];

export const LAYOUTS = { letter, boxes, colons, till, large, pages, side, slip, right, plain };
