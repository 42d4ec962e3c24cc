/** Parsers of imported files: whole files, their tables, single cells. */
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { cleanText } from "../../../shared/clean_text.ts";
import { amount, currency, date, object, oneOf } from "../../../shared/connector/schema.ts";
import { choicesFor, currencyNamed, fieldsFor } from "../../../shared/connector/habits.ts";
import { understand } from "../../../shared/connector/understand.ts";
import { nearDay, readField } from "../../../shared/connector/understand_field.ts";
import { writeCsv } from "../../../shared/export/csv.ts";
import { readDate, toIsoDate } from "../../../shared/import/date_text.ts";
import { findDecimalSign } from "../../../shared/import/conventions.ts";
import { isSameHeader, plainHeader, rankOf } from "../../../shared/import/header_words.ts";
import { decimalSignOf, readCurrency, readMoney, toDecimal } from "../../../shared/import/money_text.ts";
import { readCsv } from "../../../shared/import/read_csv.ts";
import { MAX_COLUMNS } from "../../../shared/import/formats/csv.ts";
import { MAX_ROWS, MAX_UPLOADED_ROWS, readImport } from "../../../shared/import/read_import.ts";
import { repairText } from "../../../shared/import/repair_text.ts";
import { decodeFile } from "../../../shared/import/decode_file.ts";
import { accountHints } from "../../../shared/import/formats/csv_hints.ts";
import { readCamt } from "../../../shared/import/formats/camt.ts";
import { readFormat } from "../../../shared/import/formats/mod.ts";
import { readMarkup } from "../../../shared/import/formats/markup.ts";
import { readMt940 } from "../../../shared/import/formats/mt940.ts";
import { attributeOf, decodeEntities, scanMarkup } from "../../../shared/import/formats/scan_markup.ts";
import { joinContinued } from "../../../shared/import/formats/continued_rows.ts";
import {
  currencyAbove,
  currencyInName,
  findAccount,
  findBalances,
  findOwner,
  splitFooter,
  totalsAround,
} from "../../../shared/import/formats/csv_account.ts";
import { completeDays, orderAbove } from "../../../shared/import/formats/yearless_days.ts";
import { cellReader } from "../../../shared/import/formats/csv_cells.ts";
import { readLines } from "../../../shared/import/formats/csv_lines.ts";
import { findSections } from "../../../shared/import/formats/sections.ts";
import { billsInJson, refuseBills } from "../../../shared/import/formats/bills.ts";
import { describeAccount, isIban, isMasked } from "../../../shared/import/account_name.ts";
import { proveBalances } from "../../../shared/import/balances.ts";
import { MAX_UPLOAD_BYTES, readUpload } from "../../../shared/import/read_upload.ts";
import { isPart, readXlsx } from "../../../shared/import/xlsx/read_xlsx.ts";
import { dateStyles, isDateFormat } from "../../../shared/import/xlsx/number_format.ts";
import { guessEncoding } from "../../../shared/import/guess_encoding.ts";
import { proveAmounts } from "../../../shared/import/prove_columns.ts";
import { readShared, readSheet } from "../../../shared/import/xlsx/sheet.ts";
import { readOfx } from "../../../shared/import/formats/ofx.ts";
import { readQif } from "../../../shared/import/formats/qif.ts";
import { findOther } from "../../../shared/import/formats/refusals.ts";
import { currencyInHeader } from "../../../shared/import/cell_looks.ts";
import { findColumns } from "../../../shared/import/find_columns.ts";
import { totalsOf } from "../../../shared/import/left_out.ts";
import { settleLines } from "../../../shared/import/settle_lines.ts";
import { suggestCurrencies } from "../../../shared/import/currency_hints.ts";
import { readLedger } from "../../../shared/import/formats/ledger_rows.ts";
import { leaveOutTotals } from "../../../shared/import/total_rows.ts";
import { writeRows } from "../../../shared/import/write_rows.ts";
import { isWordless, readText, stateInText, stateOf } from "../../../shared/import/kinds.ts";
import { findBareLayout } from "../../../shared/import/layouts/mod.ts";
import { BARE } from "../../../shared/import/layouts/bare.ts";
import { oneLine } from "../../../shared/import/shorten.ts";
import { fromUnits, unitsOf } from "../../../shared/import/units.ts";
import { readUrl } from "../../../shared/import/url_text.ts";
import type { Run } from "../cost.ts";
import { all, CSV, each, LINE, type Parser, pieces, UPLOAD } from "./limits.ts";

const files: Record<string, Run> = {
  "readCsv()": (text) => readCsv(text, { maxRows: MAX_ROWS, maxCells: MAX_COLUMNS }),
  "readCsv() told its delimiter": (text) => readCsv(`sep=;\r\n${text}`, { maxRows: MAX_ROWS, maxCells: MAX_COLUMNS }),
  "readImport()": (text) => readImport(text),
  "readImport() of a long header": (text) => readImport(`date,amount,name,${text}\n2026-10-01,5,a\n`),
  "readImport() of a long cell": (text) => readImport(`date,amount,name\n2026-10-01,5,"${text}\n`),
  "repairText()": repairText,
  "decodeFile()": (text) => decodeFile(new TextEncoder().encode(text)),
  "guessEncoding()": (text) => guessEncoding(new TextEncoder().encode(text)),
  "proveAmounts()": (text) => {
    const rows = pieces(text, 400).map((row, line) => ({ line, cells: pieces(row, 40) }));
    return proveAmounts(rows, rows[0]?.cells.map((_, column) => column) ?? [], {
      ...{ balance: undefined, around: rows, isBare: false, dayOf: () => undefined },
    });
  },
  "readFormat()": (text) => readFormat(text, {}, MAX_ROWS),
  "readOfx()": (text) => readOfx(text, MAX_ROWS),
  "readOfx() of a transaction": (text) => readImport(`OFXHEADER:100\n<OFX><STMTRS><STMTTRN>${text}`),
  "readCamt()": (text) => readCamt(text, MAX_ROWS),
  "readCamt() of an entry": (text) => readImport(`<BkToCstmrStmt><Stmt><Ntry><Amt>5</Amt>${text}`),
  "findColumns()": (text) =>
    findColumns([{ line: 1, cells: pieces(text, 20).slice(0, MAX_COLUMNS) }], { amount: text }),
  "settleLines() and writeRows()": (text) =>
    writeRows(settleLines(
      {
        lines: pieces(text, 250).map((cell, line) => ({
          line,
          date: cell,
          amount: cell,
          name: cell,
          note: cell,
          fee: cell,
        })),
        conventions: { isKnown: true, isStatement: true },
        mapping: {},
      },
      {},
      { latest: "2026-11-22" },
    )),
  "totalsOf()": (text) => totalsOf([{ amount: "1", currency: text }]),
  "readMarkup()": (text) => readMarkup(text, { isSgml: false }),
  "readQif()": (text) => readQif(`!Type:Bank\n${text}`, MAX_ROWS),
  "readQif() of a record": (text) => readImport(`!Type:Bank\nD1/2/26\nT-1\nL${text}\n^\n`),
  "readMt940()": (text) => readMt940(`:25:x\n:61:${text}`, MAX_ROWS),
  "readMt940() of a text": (text) => readImport(`:25:x\n:61:261020D5,NTRF\n:86:005?20${text}\n:86:/REMI/${text}`),
  "findOther()": findOther,
  "scanMarkup()": (text) => scanMarkup(text, { open: (_name, tag) => void attributeOf(tag, "r"), close() {} }),
  "scanMarkup() of a tag": (text) =>
    scanMarkup(`<a ${text}>`, { open: (_name, tag) => void attributeOf(tag, "r"), close() {} }),
  "decodeEntities()": decodeEntities,
  "readSheet()": (text) => readSheet(`<row r="1"><c t="inlineStr"><is><t>${text}`, BOOK, SHEET),
  "readSheet() of a text": (text) =>
    readSheet(`<row><c t="str"><v>${text.replaceAll("<", "(")}</v></c></row>`, BOOK, SHEET),
  "readShared()": (text) => readShared(`<si><t>${text}`),
  "dateStyles()": (text) => dateStyles(`<numFmt numFmtId="200" formatCode="${text}"/><cellXfs>${text}`),
  "readXlsx()": (text) =>
    readXlsx(
      { names: [], files: new Map(["xl/workbook.xml", "xl/_rels/workbook.xml.rels"].map((name) => [name, text])) },
      { mostCharacters: 1000, unpacksTooLarge: { code: "invalid_argument.file_empty", field: "csv" } },
    ),
  "readUpload()": (text) => readUpload(new TextEncoder().encode(text), text),
  "readUpload() of an archive": (text) => readUpload(new TextEncoder().encode(`PK\u0003\u0004${text}`), "a.xlsx"),
  "findAccount() and findBalances()": (text) => {
    const rows = pieces(text, 120).map((cell, line) => ({ line, cells: [cell, cell] }));
    const table = { headers: ["iban"], columns: {}, rows, preamble: rows.slice(0, 25), isCard: false };
    return [findAccount(table), findBalances(rows.slice(0, 30), 1), splitFooter(rows, 0)];
  },
  "readLines() of cells": (text) => {
    const columns = { date: [0], name: [1], amount: [2], direction: [3], state: [4], type: [5], counter_account: [6] };
    const rows = pieces(text, 500).map((cell, line) => ({ line, cells: Array(7).fill(cell) }));
    const { rows: all, ...sections } = findSections(rows, { headers: Array(7).fill(text), above: rows, date: 0 });
    return [
      readLines(all, { headers: [], columns, delimiter: ",", sections }),
      findSections(rows.map(({ line, cells }) => ({ line, cells: cells.slice(0, 1) })), {
        headers: undefined,
        above: rows,
        date: 0,
      }),
      cellReader(columns)([`'${text}`], "date"),
    ];
  },
  "billsInJson() and refuseBills()": (text) => [
    billsInJson(`[{"${text}"}]`),
    refuseBills(
      pieces(text, 200).map((cell) =>
        new Map(["name", "price", "payment cycle", "next payment"].map((name) => [name, cell]))
      ),
    ),
  ],
  "proveBalances()": (text) => {
    const cells = pieces(text, 40).slice(0, MAX_ROWS);
    const lines = cells.map((cell, line) => ({ line, date: "2026-10-01", amount: cell, name: "a", balance: cell }));
    const statement = { lines, conventions: { isStatement: true } };
    return proveBalances({ ...statement, mapping: {} }, settleLines({ ...statement, mapping: {} }, {}));
  },
  "import_expenses": (text) => parse("import_expenses", { csv: text }),
  "cleanText()": cleanText,
  "writeCsv()": (text) => writeCsv(["name", text.slice(0, 100)], pieces(text, 100).map((name) => ({ name }))),
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

const BOOK = { shared: [], dates: new Set([1]), is1904: false };
const SHEET = { mostRows: MAX_ROWS, mostCells: MAX_COLUMNS };

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
    return money && [
      ...[findDecimalSign([money]), decimalSignOf(money.digits), toDecimal(money.digits, ".")],
      fromUnits(unitsOf(money, ".") ?? 0n),
    ];
  },
  "readCurrency()": readCurrency,
  "headers": (text) => [rankOf("amount", plainHeader(text)), isSameHeader(plainHeader(text), "amount")],
  "currencyInHeader()": currencyInHeader,
  "readText()": (text) => [readText(text), stateOf(text), oneLine(text)],
  "stateInText() and isWordless()": (text) => [stateInText(text), isWordless(text), currencyInName(text)],
  "currencyAbove() and totalsAround()": (text) => {
    const rows = pieces(text, 100).map((cell, line) => ({ line, cells: [cell, text, cell] }));
    return [currencyAbove(rows), totalsAround(rows)];
  },
  "readLedger()": (text) => {
    const rows = pieces(text, 40).map((cell, line) => ({ line, cells: ["2026-10-01", `Expenses:${cell}`, cell] }));
    const read = readLedger(rows, 0, 1);
    return rows.map(({ cells }) => read?.(cells, cells[2]!));
  },
  "leaveOutTotals()": (text) =>
    leaveOutTotals(
      pieces(text, 40).map((name, line) => ({
        raw: { line, date: "2026-10-01", amount: "5", name: `total ${name}` },
        date: "2026-10-01",
        amount: `${line + 1}.00`,
        kind: "expense" as const,
      })),
      {},
    ),
  "suggestCurrencies()": (text) => [suggestCurrencies(pieces(text, 40), text), suggestCurrencies([text], undefined)],
  "completeDays() and findOwner()": (text) => {
    const row = (cell: string, line: number) => ({ line, cells: [line === 1 ? "date" : cell, cell, text] });
    const rows = pieces(text, 30).map((cell, line) => row(line > 1 ? "02/10" : cell, line));
    completeDays(rows);
    return [findOwner({ headers: ["account holder"], rows, preamble: rows }), orderAbove(rows)];
  },
  "joinContinued()": (text) =>
    joinContinued(
      pieces(text, 400).map((cell, line) => ({ line, cells: line === 0 ? ["2026-10-01", cell] : ["", cell] })),
      {
        date: [0],
        name: [1],
      },
    ),
  "describeAccount()": (
    text,
  ) => [describeAccount({ number: text, bank: text, isCard: true }), isIban(text), isMasked(text)],
  "isDateFormat()": (text) => [isDateFormat(text), isPart(text)],
  "accountHints()": (text) =>
    accountHints(pieces(text, 100).slice(0, MAX_COLUMNS), [], { hasBalance: false, isMostlyOut: true }),
  "findBareLayout()": (text) => BARE.map(({ cells }) => findBareLayout([cells.map(() => text)])),
  "understand()": (text) =>
    [amount(), currency(), date(), oneOf(["month", "year"])].map((schema) => understand(text, schema)),
  "understand() of fields": (text) =>
    understand({ [text]: text, amount: text }, object({ amount: amount(), currency: currency() })),
  "readField()": (text) =>
    ["frequency", "period", "bill_id", "change_id", "closed_through", "timezone"].map((name) =>
      readField(name, { value: text, schema: undefined, isFree: () => true })
    ),
  "habits": (text) => [choicesFor(text), currencyNamed(text), fieldsFor(text), nearDay(text)],
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
  "lost first letters",
  "many lost letters",
];

/** The costliest shapes, for the longest uploaded file. The length of a call is tried with all shapes. */
const UPLOADED = [
  ...["stray quotation marks", "an endless quoted cell", "short cells", "days", "unclosed XML", "many attributes"],
  ...["entities", "lone surrogates", "lost letters"],
];
/** A request has 2 s. */
const MOST_MS = 1500;
const upload: Run = (text) => {
  const uploaded = readUpload(new TextEncoder().encode(text).subarray(0, MAX_UPLOAD_BYTES), "a.csv");
  return "text" in uploaded && readImport(uploaded.text, {}, "2026-11-22", { mostRows: MAX_UPLOADED_ROWS });
};

export const FILE_PARSERS: readonly Parser[] = [
  { name: "an upload", run: upload, limit: UPLOAD, mostMs: MOST_MS, shapes: UPLOADED },
  {
    name: "an upload of OFX",
    run: (text) => upload(`OFXHEADER:100\n<OFX><STMTRS><STMTTRN>${text}`),
    limit: UPLOAD,
    mostMs: MOST_MS,
    shapes: UPLOADED,
  },
  ...all(files, CSV),
  // Every cell of the first rows may be a header, or a value of each kind.
  ...all(tables, CSV, 400).map((parser) => ({ ...parser, shapes: CELLS })),
  ...all(cells, LINE),
  ...Object.entries(cells).map(([name, run]) => ({ name: `${name} of short cells`, limit: LINE, run: each(40, run) })),
];
