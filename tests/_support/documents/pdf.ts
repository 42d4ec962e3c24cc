/** Writes small PDFs like those of several kinds of programs. */
import { zlibSync } from "fflate";

export interface PdfText {
  /** From the left and the top, in points, on A4. */
  x: number;
  y: number;
  text: string;
  size?: number;
}

export interface PdfStyle {
  /** The encoding of letters; "identity" and "two bytes" have a table back to text, "no table" has none. */
  font?: "winansi" | "macroman" | "differences" | "identity" | "no table" | "helvetica";
  /** How a text is drawn: at once, letter by letter, or with kerning. */
  shown?: "whole" | "letters" | "kerned";
  isCompressed?: boolean;
  /** Objects within compressed streams, and the cross-reference table as a stream (PDF 1.5). */
  isPacked?: boolean;
  /** The pages' contents within a form, as some printer drivers write them. */
  isForm?: boolean;
  /** Clockwise, in degrees; readers see upright texts. */
  rotate?: 0 | 90 | 270;
  attachments?: { name: string; content: string | Uint8Array }[];
  /** More entries of the catalog. */
  catalog?: string;
  /** More entries of the trailer. */
  trailer?: string;
  /** More objects, from number 100 on. */
  objects?: string[];
}

const HEIGHT = 842;
const WIDTH = 595;

const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0) & 255);
const lettersOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
const hex = (text: string, digits: number) =>
  Array.from(text, (letter) => letter.charCodeAt(0).toString(16).padStart(digits, "0")).join("");

/** Windows-1252 and Mac Roman, from Unicode. */
const tableOf = (encoding: string) =>
  new Map(Array.from({ length: 256 }, (_, byte) => [new TextDecoder(encoding).decode(Uint8Array.of(byte)), byte]));
const WINDOWS = tableOf("windows-1252");
const MAC = tableOf("macintosh");
/** Codes that a font's own encoding assigns to letters: from 1 on, in order of first use. */
const OWN_START = 33;

export const stream = (dict: string, content: string | Uint8Array, isCompressed = false): string => {
  const bytes = typeof content === "string" ? bytesOf(content) : content;
  const packed = isCompressed ? zlibSync(bytes) : bytes;
  return `<<${dict}${isCompressed ? "/Filter/FlateDecode" : ""}/Length ${packed.length}>>stream\n${
    lettersOf(packed)
  }\nendstream`;
};

/** A whole file of numbered objects; number 1 is the catalog. */
export function pdfFile(objects: Map<number, string>, { isPacked = false, trailer = "" } = {}): Uint8Array {
  let text = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
  const places = new Map<number, [kind: number, at: number, index: number]>();
  const add = (number: number, body: string) => {
    places.set(number, [1, text.length, 0]);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  };
  const loose = [...objects].filter(([, body]) => isPacked && !body.includes("stream\n"));
  for (const [number, body] of objects) if (!loose.some(([one]) => one === number)) add(number, body);
  const last = Math.max(...objects.keys());
  if (isPacked) {
    let at = 0;
    const heads = loose.map(([number, body], index) => {
      places.set(number, [2, last + 1, index]);
      const head = `${number} ${at}`;
      at += body.length + 1;
      return head;
    }).join(" ");
    add(
      last + 1,
      stream(
        `/Type/ObjStm/N ${loose.length}/First ${heads.length + 1}`,
        `${heads} ${loose.map(([, body]) => `${body} `).join("")}`,
        true,
      ),
    );
    const start = text.length;
    places.set(last + 2, [1, start, 0]);
    const rows = Array.from({ length: last + 3 }, (_, number) => {
      const [kind, where, index] = places.get(number) ?? [0, 0, 0];
      return [kind, where >> 24, where >> 16, where >> 8, where, index];
    });
    text += `${last + 2} 0 obj\n${
      stream(`/Type/XRef/Size ${last + 3}/W[1 4 1]/Root 1 0 R${trailer}`, Uint8Array.from(rows.flat()), true)
    }\nendobj\nstartxref\n${start}\n%%EOF\n`;
    return bytesOf(text);
  }
  const start = text.length;
  text += `xref\n0 ${last + 1}\n0000000000 65535 f \n${
    Array.from({ length: last }, (_, i) => {
      const place = places.get(i + 1);
      return place ? `${String(place[1]).padStart(10, "0")} 00000 n \n` : "0000000000 65535 f \n";
    }).join("")
  }trailer\n<</Size ${last + 1}/Root 1 0 R${trailer}>>\nstartxref\n${start}\n%%EOF\n`;
  return bytesOf(text);
}

/** @param pages the texts of each page */
export function writePdf(pages: PdfText[][], style: PdfStyle = {}): Uint8Array {
  const { font = "winansi", shown = "whole", isCompressed = false, isForm = false, rotate = 0 } = style;
  const objects = new Map<number, string>();
  const letters = [...new Set(pages.flat().flatMap(({ text }) => [...text]))];
  const isWide = font === "identity" || font === "no table";
  const codeOf = (letter: string) =>
    isWide || font === "differences"
      ? OWN_START + letters.indexOf(letter)
      : (font === "macroman" ? MAC : WINDOWS).get(letter) ?? 63;
  const encode = (text: string) =>
    `<${Array.from(text, (letter) => codeOf(letter).toString(16).padStart(isWide ? 4 : 2, "0")).join("")}>`;
  const show = (text: string) =>
    shown === "whole"
      ? `${encode(text)} Tj`
      : shown === "kerned"
      ? `[${Array.from(text, (letter, i) => `${encode(letter)} ${i % 3 === 0 ? 20 : -15}`).join(" ")}] TJ`
      : Array.from(text, (letter) => `${encode(letter)} Tj`).join(" ");

  objects.set(3, fontOf(font, letters));
  if (isWide) {
    objects.set(
      4,
      "<</Type/Font/Subtype/CIDFontType2/BaseFont/Sample/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 550>>",
    );
    objects.set(5, stream("", tableBack(letters), isCompressed));
  }
  let number = 10;
  const kids: number[] = [];
  for (const texts of pages) {
    const content = texts.map(({ x, y, text, size = 10 }) => {
      const [a, b, c, d, e, f] = matrixOf(rotate, x, y);
      return `BT /F1 ${size} Tf ${a} ${b} ${c} ${d} ${e} ${f} Tm ${show(text)} ET`;
    }).join("\n");
    const resources = "<</Font<</F1 3 0 R>>>>";
    const [page, contents, form] = [number++, number++, number++];
    kids.push(page);
    if (isForm) {
      objects.set(
        form,
        stream(`/Type/XObject/Subtype/Form/BBox[0 0 ${WIDTH} ${HEIGHT}]/Resources${resources}`, content, isCompressed),
      );
    }
    objects.set(contents, stream("", isForm ? "q 1 0 0 1 0 0 cm /X1 Do Q" : content, isCompressed));
    objects.set(
      page,
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${WIDTH} ${HEIGHT}]${rotate ? `/Rotate ${rotate}` : ""}/Resources${
        isForm ? `<</XObject<</X1 ${form} 0 R>>>>` : resources
      }/Contents ${contents} 0 R>>`,
    );
  }
  objects.set(2, `<</Type/Pages/Count ${kids.length}/Kids[${kids.map((kid) => `${kid} 0 R`).join(" ")}]>>`);
  const specs = (style.attachments ?? []).map(({ name, content }) => {
    const [spec, file] = [number++, number++];
    objects.set(
      file,
      stream(
        "/Type/EmbeddedFile/Subtype/text#2Fxml",
        typeof content === "string" ? new TextEncoder().encode(content) : content,
        true,
      ),
    );
    objects.set(
      spec,
      `<</Type/Filespec/F(${name})/UF<feff${
        hex(name, 4)
      }>/AFRelationship/Alternative/EF<</F ${file} 0 R/UF ${file} 0 R>>>>`,
    );
    return `(${name}) ${spec} 0 R`;
  });
  const files = specs.length > 0 ? `/Names<</EmbeddedFiles<</Names[${specs.join(" ")}]>>>>` : "";
  objects.set(1, `<</Type/Catalog/Pages 2 0 R${files}${style.catalog ?? ""}>>`);
  (style.objects ?? []).forEach((body, i) => objects.set(Math.max(100, number) + i, body));
  return pdfFile(objects, { isPacked: style.isPacked ?? false, trailer: style.trailer ?? "" });
}

/** Rotated against the page, so a reader sees it upright. */
function matrixOf(rotate: 0 | 90 | 270, x: number, y: number): number[] {
  if (rotate === 90) return [0, 1, -1, 0, y, x];
  if (rotate === 270) return [0, -1, 1, 0, HEIGHT - y, WIDTH - x];
  return [1, 0, 0, 1, x, HEIGHT - y];
}

function fontOf(font: NonNullable<PdfStyle["font"]>, letters: string[]): string {
  const widths = (count: number) => `[${Array.from({ length: count }, () => 550).join(" ")}]`;
  if (font === "identity") {
    return "<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding/Identity-H/ToUnicode 5 0 R/DescendantFonts[4 0 R]>>";
  }
  if (font === "no table") {
    return "<</Type/Font/Subtype/Type0/BaseFont/Sample/Encoding/Identity-H/DescendantFonts[4 0 R]>>";
  }
  if (font === "differences") {
    return `<</Type/Font/Subtype/Type1/BaseFont/Sample/FirstChar ${OWN_START}/LastChar ${
      OWN_START + letters.length - 1
    }/Widths${widths(letters.length)}/Encoding<</Type/Encoding/Differences[${OWN_START} ${
      letters.map((letter) => `/${glyphOf(letter)}`).join(" ")
    }]>>>>`;
  }
  if (font === "helvetica") return "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
  const encoding = font === "macroman" ? "MacRomanEncoding" : "WinAnsiEncoding";
  return `<</Type/Font/Subtype/TrueType/BaseFont/Sample/FirstChar 32/LastChar 255/Widths${
    widths(224)
  }/Encoding/${encoding}>>`;
}

const GLYPHS: Record<string, string> = {
  ...{ " ": "space", ".": "period", ",": "comma", ":": "colon", "-": "hyphen", "/": "slash", "€": "Euro" },
  ...{ "ä": "adieresis", "ö": "odieresis", "ü": "udieresis", "ß": "germandbls", "é": "eacute", "·": "periodcentered" },
};
const DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const glyphOf = (letter: string) =>
  GLYPHS[letter] ??
    (/\d/.test(letter) ? DIGITS[Number(letter)]! : /[a-z]/i.test(letter) ? letter : `uni${hex(letter, 4)}`);

const tableBack = (letters: string[]) =>
  `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n${letters.length} beginbfchar\n${
    letters.map((letter, i) => `<${(OWN_START + i).toString(16).padStart(4, "0")}> <${hex(letter, 4)}>`).join("\n")
  }\nendbfchar endcmap end`;
