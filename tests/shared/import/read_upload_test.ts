/** An upload is text in some encoding or a workbook; any other file is refused by name. */
import type { Json } from "../../_support/books.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { gzipSync, strToU8, type Zippable, zipSync } from "fflate";
import { presentError } from "../../../functions/mcp/present/error.ts";
import { readImport } from "../../../shared/import/read_import.ts";
import { MAX_UPLOAD_BYTES, type ReadUpload, readUpload } from "../../../shared/import/read_upload.ts";
import { isDateFormat, serialDate } from "../../../shared/import/xlsx/number_format.ts";
import { en } from "../../../shared/words/en/mod.ts";
import { type Cell, day, type Sheet, writeWorkbook } from "../../_support/workbook.ts";

function read(bytes: Uint8Array, name = "statement.xlsx"): ReadUpload {
  const result = readUpload(bytes, name);
  if ("code" in result) throw new Error(JSON.stringify(result));
  return result;
}
function refused(bytes: Uint8Array, name = "statement") {
  const result = readUpload(bytes, name);
  if (!("code" in result)) throw new Error(result.text.slice(0, 200));
  return { code: result.code, said: presentError(result, en).message };
}
const raw = (inside: string, attributes = ""): Cell => ({ attributes, inside });
const textOf = (rows: Cell[][], options?: { is1904?: boolean }) =>
  read(writeWorkbook([{ name: "S", rows }], options)).text;
const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

Deno.test("a workbook's cells are read as values: shown numbers, days, texts and formula results", () => {
  const cells: [Cell, string][] = [
    [12, "12"],
    [-23.45, "-23.45"],
    [raw("<v>-23.449999999999999</v>"), "-23.45"],
    [raw("<v>1.234</v>"), "1.2340"],
    [raw("<v>1E-2</v>"), "0.01"],
    [raw("<v>1.5E3</v>"), "1500"],
    [raw("<v>1e999</v>"), ""],
    [day(46300), "2026-10-05"],
    [raw("<v>46300.75</v>", 's="1"'), "2026-10-05"],
    [raw("<v>2026-10-05T00:00:00</v>", 't="d"'), "2026-10-05"],
    [raw("<v>1</v>", 't="b"'), "TRUE"],
    [raw("<v>#REF!</v>", 't="e"'), "#REF!"],
    [raw("<f>SUM(A1:A9)</f><v>9</v>"), "9"],
    [raw('<f>WEBSERVICE("https://example.com")</f>'), ""],
    [raw("<f>1+1</f><v>two &amp; a half</v>", 't="str"'), "two & a half"],
    [raw("<is><r><t>in </t></r><r><t>line</t></r><rPh><t>aloud</t></rPh></is>", 't="inlineStr"'), "in line"],
    [raw("<is><t><![CDATA[a<b]]></t></is>", 't="inlineStr"'), "a<b"],
    ["line\nbreak\tand tab", "line break and tab"],
    ['"quoted"', '"""quoted"""'],
  ];
  for (const [cell, text] of cells) assertEquals(textOf([["first", cell, "last"]]), `first\t${text}\tlast`);
});

Deno.test("days count from 1900 or 1904, and only date styles make a number a day", () => {
  assertEquals([serialDate(1, false), serialDate(59, false), serialDate(61, false)], [
    "1900-01-01",
    "1900-02-28",
    "1900-03-01",
  ]);
  assertEquals([serialDate(46300, false), serialDate(44838, true)], ["2026-10-05", "2026-10-05"]);
  assertEquals([serialDate(0.5, false), serialDate(1e9, false), serialDate(NaN, true)], [
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(textOf([["a", day(44838)]], { is1904: true }), "a\t2026-10-05");
  for (const code of ["dd.mm.yyyy", "yyyy-mm-dd;@", "[$-407]d. mmmm yyyy", "mmm-yy", "m/d/yy h:mm"]) {
    assertEquals(isDateFormat(code), true, code);
  }
  for (const code of ["#,##0.00", '0.00 "days"', "General", "[Red]-0.00", "h:mm", "0.00_d", "\\d0", "[h]:mm"]) {
    assertEquals(isDateFormat(code), false, code);
  }
});

Deno.test("lines are numbered like the sheet's rows, and a table is found anywhere in its sheet", () => {
  const header: Cell[] = ["Date", "Description", "Amount"];
  const rows: Cell[][] = [["A bank"], [], [], header, [day(46300), "Tea", -3], [], [day(46301), null, -4]];
  const statement: Sheet = { name: "October", rows };
  const workbook = writeWorkbook([{ name: "About", rows: [["Nothing"]] }, statement, {
    ...statement,
    name: "Old",
    isHidden: true,
  }]);
  const { text, warnings } = read(workbook);
  assertEquals(text.split("\n").map((line) => line.trim()), [
    "A bank",
    "",
    "",
    "Date\tDescription\tAmount",
    "2026-10-05\tTea\t-3",
    "",
    "2026-10-06\t\t-4",
  ]);
  assertEquals(warnings, []);
  const result = readImport(text, { negative_is_expense: true });
  if (!("rows" in result)) throw new Error(JSON.stringify(result));
  assertEquals([result.rows.map(({ line }) => line), result.rows_bad.map(({ line }) => line)], [[5, 7], []]);
});

Deno.test("a second table is reported", () => {
  const rows: Cell[][] = [["Date", "Description", "Amount"], [day(46300), "Tea", 3], [day(46301), "Tea", 3]];
  const { text, warnings } = read(writeWorkbook([{ name: "Oct", rows }, { name: "Nov", rows: [...rows, rows[1]!] }]));
  assertEquals(text.split("\n").length, 4);
  assertEquals(warnings, [{ code: "sheets_left_out", params: { sheet: "Nov", others: ["Oct"] } }]);
  assertMatch(en.warnings.sheets_left_out(warnings[0]!.params as Json), /Only the sheet "Nov" was read; "Oct" looks/);
});

Deno.test("a workbook that is broken or has a document type in its XML is refused", () => {
  const good = writeWorkbook([{ name: "S", rows: [["a", "b", "c"]] }]);
  // Truncated archives, in which all files seem complete, or referenced files are missing.
  for (const cut of [20, 400, 900]) {
    assertEquals(refused(good.subarray(0, good.length - cut)).code, "invalid_argument.file_broken", `${cut}`);
  }
  const lost = writeWorkbook([{ name: "S", rows: [["a", raw("<v>4711</v>", 't="s"')]] }]);
  assertEquals(refused(lost).code, "invalid_argument.file_broken");
  const sheet = (xml: string) =>
    writeWorkbook([{ name: "S", rows: [] }], { more: { "xl/worksheets/sheet1.xml": strToU8(xml) } });
  const type = '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet><sheetData/></worksheet>';
  for (const xml of [type, "<worksheet><sheetData><row", "<a>".repeat(3) + "<!x>"]) {
    assertEquals(refused(sheet(xml)).code, "invalid_argument.file_broken", xml);
  }
  assertEquals(refused(writeWorkbook([{ name: "S", rows: [] }])).code, "invalid_argument.file_empty");
  assertEquals(refused(writeWorkbook([])).code, "invalid_argument.file_empty");
  // An external file is never loaded.
  const far = {
    "xl/_rels/workbook.xml.rels": strToU8(
      '<Relationships><Relationship Id="rId1" Target="../../etc/passwd"/></Relationships>',
    ),
  };
  assertEquals(
    refused(writeWorkbook([{ name: "S", rows: [["a"]] }], { more: far })).code,
    "invalid_argument.file_empty",
  );
});

/** An archive with files of one size that claim another. */
function withSize(archive: Uint8Array, size: number, said: number): Uint8Array {
  const bytes = archive.slice();
  const view = new DataView(bytes.buffer);
  for (let at = 0; at + 30 < bytes.length; at++) {
    const isFile = view.getUint32(at, true) === 0x04034b50 && view.getUint32(at + 22, true) === size;
    if (isFile) view.setUint32(at + 22, said, true);
  }
  return bytes;
}

Deno.test("a workbook that unpacks too far is refused by its declared and its actual size", () => {
  const zeros = new Uint8Array(41 * 1024 * 1024);
  const bomb = writeWorkbook([{ name: "S", rows: [["a"]] }], {
    more: { "xl/worksheets/sheet1.xml": [zeros, { level: 1 }] },
  });
  assert(bomb.length < 1_000_000);
  assertEquals(refused(bomb).code, "invalid_argument.file_unpacks_too_large");
  // A false size: it claims ten bytes, and a small one claims a gigabyte.
  assertEquals(refused(withSize(bomb, zeros.length, 10)).code, "invalid_argument.file_unpacks_too_large");
  const xml = strToU8("<worksheet/>");
  const small = writeWorkbook([{ name: "S", rows: [] }], { more: { "xl/worksheets/sheet1.xml": xml } });
  assertEquals(refused(small).code, "invalid_argument.file_empty");
  assertEquals(refused(withSize(small, xml.length, 2 ** 30)).code, "invalid_argument.file_unpacks_too_large");
  // The limit applies to the total; each file alone would be small enough.
  const strings = new Uint8Array(21 * 1024 * 1024);
  const two: Zippable = {
    "xl/worksheets/sheet1.xml": [strings, { level: 1 }],
    "xl/sharedStrings.xml": [strings, { level: 1 }],
  };
  assertEquals(
    refused(writeWorkbook([{ name: "S", rows: [] }], { more: two })).code,
    "invalid_argument.file_unpacks_too_large",
  );
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`xl/media/${i}.png`, new Uint8Array(1)]));
  assertEquals(
    refused(writeWorkbook([{ name: "S", rows: [["a"]] }], { more: many })).code,
    "invalid_argument.file_unpacks_too_large",
  );
});

Deno.test("a sheet's size is bounded in rows, in columns and as text", () => {
  const limit = (rows: string) =>
    refused(
      writeWorkbook([{ name: "S", rows: [] }], {
        more: { "xl/worksheets/sheet1.xml": strToU8(`<worksheet><sheetData>${rows}</sheetData></worksheet>`) },
      }),
    ).code;
  assertEquals(limit('<row><c t="str"><v>a</v></c></row>'.repeat(51_000)), "invalid_argument.file_too_long");
  const long = '<row><c t="str"><v>a</v></c><c t="str" r="GR1"><v>a</v></c></row>'.repeat(49_000);
  assertEquals(
    limit(long.replace("<v>a</v>", `<v>${"a".repeat(3_000_000)}</v>`)),
    "invalid_argument.file_unpacks_too_large",
  );
  const { text } = read(writeWorkbook([{ name: "S", rows: [] }], {
    more: {
      "xl/worksheets/sheet1.xml": strToU8('<worksheet><row r="9"><c r="XFD1" t="str"><v>a</v></c></row></worksheet>'),
    },
  }));
  const wide = readImport(text);
  assertEquals("code" in wide && wide.code, "invalid_argument.too_many_columns");
});

Deno.test("any other file is refused by name, with a list of readable formats", () => {
  const zip = (name: string) => zipSync({ [name]: strToU8("x") });
  const kinds: [RegExp, Uint8Array, string?][] = [
    [/archive \(ZIP\)/, zip("statement.csv")],
    [/archive \(ZIP\)/, Uint8Array.from([0x50, 0x4b, 5, 6, ...new Uint8Array(18)])],
    [/archive \(GZIP\)/, gzipSync(strToU8("Date,Name,Amount"))],
    [/archive \(7z\)/, bytesOf("7z\xbc\xaf\x27\x1c")],
    [/archive \(RAR\)/, bytesOf("Rar!\x1a\x07\x01")],
    [/archive \(xz\)/, bytesOf("\xfd7zXZ\0")],
    [/archive \(Zstandard\)/, bytesOf("(\xb5/\xfd\0")],
    [/kind \(ODS\)/, zip("content.xml")],
    [/kind \(XLSB\)/, zip("xl/workbook.bin")],
    [/kind \(Numbers\)/, zip("Index/Document.iwa")],
    [/kind \(DOCX\)/, zip("word/document.xml")],
    [/kind \(XLS, or XLSX with a password\)/, bytesOf("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")],
    [/kind \(PDF\)/, bytesOf("%PDF-1.7")],
    [/kind \(image\)/, bytesOf("\x89PNG\r\n")],
    [/kind \(image\)/, bytesOf("RIFF1234WEBPVP8 ")],
    [/kind \(image\)/, bytesOf("\0\0\0\x18ftypheic")],
    [/kind \(HTML\)/, bytesOf("<!DOCTYPE html><table>")],
    [/kind \(RTF\)/, bytesOf("{\\rtf1")],
    [/kind \(SQLite\)/, bytesOf("SQLite format 3\0")],
    [/kind \(\.dat\)/, Uint8Array.from({ length: 600 }, (_, i) => i % 7), "a.dat"],
    [/no rows/, new Uint8Array(0)],
    [/larger than 10 MB/, new Uint8Array(MAX_UPLOAD_BYTES + 1)],
  ];
  for (const [words, bytes, name] of kinds) assertMatch(refused(bytes, name).said, words);
  const hint = presentError(readUpload(bytesOf("%PDF-1.7"), "a.pdf") as never, en).hint;
  assertMatch(hint!, /CSV, TSV, XLSX, OFX, QFX, QIF, MT940 and camt/);
});

Deno.test("text is read in its encoding, and lost letters are reported", () => {
  const csv = "Datum;Name;Betrag\n01.10.2026;Café;-5,00\n";
  assertEquals(read(bytesOf(csv), "a.csv"), { text: csv, encoding: "windows-1252", warnings: [] });
  const lost = csv.replace("é", "\ufffd");
  assertEquals(read(new TextEncoder().encode(lost), "a.csv"), {
    text: lost,
    encoding: "damaged",
    warnings: [{ code: "encoding" }],
  });
});
