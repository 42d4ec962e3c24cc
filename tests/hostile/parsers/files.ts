/** Parsers of imported files: whole ones, their tables, single cells. */
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { cleanText } from "../../../shared/clean_text.ts";
import { readDate, toIsoDate } from "../../../shared/import/date_text.ts";
import { currencyInHeader } from "../../../shared/import/find_columns.ts";
import { findDecimalSign } from "../../../shared/import/find_conventions.ts";
import { isSameHeader, plainHeader, rankOf } from "../../../shared/import/header_words.ts";
import { decimalSignOf, readCurrency, readMoney, toDecimal } from "../../../shared/import/money_text.ts";
import { readCsv } from "../../../shared/import/read_csv.ts";
import { MAX_COLUMNS, MAX_ROWS, readImport } from "../../../shared/import/read_import.ts";
import { repairText } from "../../../shared/import/repair_text.ts";
import { readUrl } from "../../../shared/import/url_text.ts";
import type { Run } from "../cost.ts";
import { all, CSV, each, LINE, type Parser, pieces } from "./limits.ts";

const files: Record<string, Run> = {
  "readCsv()": (text) => readCsv(text, { maxRows: MAX_ROWS, maxCells: MAX_COLUMNS }),
  "readCsv() told its delimiter": (text) => readCsv(`sep=;\r\n${text}`, { maxRows: MAX_ROWS, maxCells: MAX_COLUMNS }),
  "readImport()": (text) => readImport(text),
  "readImport() of a long header": (text) => readImport(`date,amount,name,${text}\n2026-10-01,5,a\n`),
  "readImport() of a long cell": (text) => readImport(`date,amount,name\n2026-10-01,5,"${text}\n`),
  "repairText()": repairText,
  "import_expenses": (text) => parse("import_expenses", { csv: text }),
  "cleanText()": cleanText,
};

const tables: Record<string, Run> = {
  "readImport() of many amounts": (text) =>
    readImport(`date,amount,name\n${pieces(text, 39).map((cell) => `2026-10-01,"${cell}",a`).join("\n")}`),
  "readImport() of many days": (text) =>
    readImport(`date,amount,name\n${pieces(text, 59).map((cell) => `"${cell}",5,a`).join("\n")}`),
  "readImport() of many headers": (text) => readImport(table(text, 6)),
  "readImport() of many columns": (text) =>
    readImport(`${Array.from({ length: MAX_COLUMNS }, (_, i) => `c${i}`).join()}\n${table(text, 3)}`),
  "readImport() with a mapping": (text) =>
    readImport(table(text, 8), { date: text, amount: "abc" + "s".repeat(100), name: "2", note: text.slice(0, 50) }),
};

/** A text's cells, in as many columns as allowed. */
const table = (text: string, length: number) =>
  pieces(text, length * MAX_COLUMNS).map((row) => pieces(row.replaceAll(/[\r\n,"]/g, "?"), length).join()).join("\n");

export const parse = (name: string, args: unknown) => TOOLS.find(({ listed }) => listed.name === name)!.parse(args);

const cells: Record<string, Run> = {
  "readDate()": (text) => {
    const date = readDate(text);
    return date && toIsoDate(date, "DMY");
  },
  "readMoney()": (text) => {
    const money = readMoney(text);
    return money && [findDecimalSign([money]), decimalSignOf(money.digits), toDecimal(money.digits, ".")];
  },
  "readCurrency()": readCurrency,
  "headers": (text) => [rankOf("amount", plainHeader(text)), isSameHeader(plainHeader(text), "amount")],
  "currencyInHeader()": currencyInHeader,
  "readUrl()": (text) => [readUrl(text), readUrl(`https://${text}`)],
};

/** Table cell contents; the shapes differ in the separators. */
const CELLS = [
  "digits, then a letter",
  "digits with commas",
  "points",
  "spaces between two letters",
  "days",
  "near months",
  "round brackets",
  "brackets in pairs",
  "one pile of marks",
  "letters that stand for many",
  "enclosed digits",
  "lone surrogates",
  "lost letters",
  "many lost letters",
];

export const FILE_PARSERS: readonly Parser[] = [
  ...all(files, CSV),
  ...all(tables, CSV).map((parser) => ({ ...parser, shapes: CELLS })),
  ...all(cells, LINE),
  ...Object.entries(cells).map(([name, run]) => ({ name: `${name} of short cells`, limit: LINE, run: each(40, run) })),
];
