/** Writes XLSX workbooks as programs do, or as an attacker would. */
import { strToU8, type Zippable, zipSync } from "fflate";

/** A cell as a value, or as inner XML with its attributes. */
export type Cell = string | number | null | { attributes: string; inside: string };

export interface Sheet {
  name: string;
  rows: Cell[][];
  isHidden?: boolean;
}

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** A column's letters, such as "BC". */
function letters(column: number): string {
  const last = String.fromCharCode(65 + column % 26);
  return column < 26 ? last : letters(Math.floor(column / 26) - 1) + last;
}

/** A day is a number with the second style, a date format. */
export const day = (serial: number): Cell => ({ attributes: 's="1"', inside: `<v>${serial}</v>` });

export function writeWorkbook(
  sheets: Sheet[],
  { is1904 = false, more = {} }: { is1904?: boolean; more?: Zippable } = {},
): Uint8Array {
  const strings = new Map<string, number>();
  const cellXml = (cell: Cell, reference: string) => {
    if (cell === null) return "";
    if (typeof cell === "object") return `<c r="${reference}" ${cell.attributes}>${cell.inside}</c>`;
    if (typeof cell === "number") return `<c r="${reference}"><v>${cell}</v></c>`;
    if (!strings.has(cell)) strings.set(cell, strings.size);
    return `<c r="${reference}" t="s"><v>${strings.get(cell)}</v></c>`;
  };
  const sheetXml = ({ rows }: Sheet) => {
    const lines = rows.map((cells, i) =>
      `<row r="${i + 1}">${cells.map((cell, column) => cellXml(cell, `${letters(column)}${i + 1}`)).join("")}</row>`
    );
    return `<worksheet><sheetData>${lines.join("")}</sheetData></worksheet>`;
  };
  const parts = Object.fromEntries(sheets.map((sheet, i) => [`xl/worksheets/sheet${i + 1}.xml`, sheetXml(sheet)]));
  const listed = sheets.map(({ name, isHidden }, i) =>
    `<sheet name="${escape(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"${isHidden ? ' state="hidden"' : ""}/>`
  );
  const related = sheets.map((_, i) => `<Relationship Id="rId${i + 1}" Target="worksheets/sheet${i + 1}.xml"/>`);
  const texts: Record<string, string> = {
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": `<workbook><workbookPr${is1904 ? ' date1904="1"' : ""}/><sheets>${
      listed.join("")
    }</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships>${related.join("")}</Relationships>`,
    "xl/styles.xml": '<styleSheet><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    ...parts,
    "xl/sharedStrings.xml": `<sst>${
      [...strings.keys()].map((text) => `<si><t>${escape(text)}</t></si>`).join("")
    }</sst>`,
  };
  const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, strToU8(text)]));
  return zipSync({ ...files, ...more });
}
