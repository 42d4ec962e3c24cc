/**
 * Documents designed to cost much, at the size of a whole upload, are read or refused in bounded time and memory. On
 * Deno 2.1.4 and an idle machine, the slowest takes 1.2 s.
 */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { deflateSync } from "node:zlib";
import { MAX_DOCUMENT_BYTES, readDocument } from "../../shared/documents/read_document.ts";
import { isInTime } from "../_support/machine.ts";
import { pdfFile, stream, writePdf } from "../_support/documents/pdf.ts";

const MOST_MS = 2_000;
const MOST_MB = 200;

const CATALOG = "<</Type/Catalog/Pages 2 0 R>>";
const PAGES = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
const MANY = 10_000;
const page = (font: string, contents = "5 0 R") =>
  `<</Type/Page/Parent 2 0 R/Resources<</Font<</F 4 0 R>>/XObject<</X 10 0 R>>>>/Contents ${contents}>>${font}`;
const SHOWN = "BT /F 12 Tf 10 10 Td (Total 119.00 EUR) Tj ET";
const HELVETICA = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
const WIDE = (more: string, cid = "") =>
  `<</Type/Font/Subtype/Type0/Encoding/Identity-H${more}/DescendantFonts[<</Subtype/CIDFontType2${cid}>>]>>`;

/** One page with this font, these contents, and more objects. */
const one = (font: string, content: string, more: [number, string][] = []) =>
  pdfFile(new Map([[1, CATALOG], [2, PAGES], [3, page("")], [4, font], [5, content], ...more]));
const bomb = (megabytes: number) => deflateSync(new Uint8Array(megabytes * 1_000_000).fill(32));
const packed = (bytes: Uint8Array, filter = "/Filter/FlateDecode") => stream(filter, bytes);
const upload = (start: string, piece: string) =>
  new TextEncoder().encode(start + piece.repeat((MAX_DOCUMENT_BYTES - start.length) / piece.length | 0));

const HOSTILE: Record<string, { bytes: () => Uint8Array; problem?: string }> = {
  "a page that unpacks to 200 MB": { bytes: () => one(HELVETICA, packed(bomb(200))), problem: "complex" },
  "a page that is packed twice": {
    bytes: () => one(HELVETICA, packed(deflateSync(bomb(200)), "/Filter[/FlateDecode/FlateDecode]")),
    problem: "complex",
  },
  "objects that unpack to 200 MB": {
    bytes: () =>
      one(HELVETICA, stream("", SHOWN), [[6, packed(bomb(200), "/Type/ObjStm/N 1/First 4/Filter/FlateDecode")]]),
    problem: "complex",
  },
  "an attachment that unpacks to 200 MB": {
    bytes: () => one(HELVETICA, "<<>>", [[6, "<</F(factur-x.xml)/EF<</F 7 0 R>>>>"], [7, packed(bomb(200))]]),
    problem: "complex",
  },
  "widths of 300 million letters": { bytes: () => one(WIDE("", "/W[0 300000000 500]"), stream("", SHOWN)) },
  "a table of 16 million letters": {
    bytes: () =>
      one(WIDE("/ToUnicode 6 0 R"), stream("", SHOWN), [[
        6,
        stream("", "1 beginbfrange <00000000> <00fffffe> <0041> endbfrange ".repeat(1000)),
      ]]),
  },
  "forms within forms, ten times each": {
    bytes: () =>
      one(
        HELVETICA,
        stream("", "/X Do ".repeat(10)),
        Array.from({ length: 12 }, (_, i): [number, string] => [
          10 + i,
          stream(`/Subtype/Form/Resources<</XObject<</X ${11 + i} 0 R>>>>`, "/X Do ".repeat(10)),
        ]),
      ),
  },
  "a form within itself": {
    bytes: () => one(HELVETICA, stream("", "/X Do"), [[10, stream("/Subtype/Form", "/X Do /X Do")]]),
  },
  "10,000 pages": {
    bytes: () =>
      pdfFile(
        new Map([
          [1, CATALOG],
          [2, `<</Kids[${Array.from({ length: MANY }, (_, i) => `${10 + i} 0 R`).join(" ")}]/Count ${MANY}>>`],
          ...Array.from({ length: MANY }, (_, i): [number, string] => [10 + i, "<</Type/Page/Parent 2 0 R>>"]),
        ]),
      ),
    problem: "long",
  },
  "one page 10,000 times": {
    bytes: () => pdfFile(new Map([[1, CATALOG], [2, `<</Kids[${"3 0 R ".repeat(MANY)}]>>`], [3, page("")]])),
  },
  "pages within themselves": {
    bytes: () => pdfFile(new Map([[1, CATALOG], [2, "<</Kids[2 0 R 2 0 R 3 0 R]>>"], [3, page("")]])),
  },
  "references in a circle": {
    bytes: () =>
      pdfFile(
        new Map([[1, "2 0 R"], [2, "<</Pages 3 0 R>>"], [3, "<</Kids 4 0 R>>"], [4, "[5 0 R]"], [
          5,
          "<</Kids 4 0 R>>",
        ]]),
      ),
    problem: "broken",
  },
  "arrays in arrays": { bytes: () => upload("%PDF-1.7\n1 0 obj\n", "["), problem: "complex" },
  "dictionaries in dictionaries": { bytes: () => upload("%PDF-1.7\n1 0 obj\n", "<</A"), problem: "complex" },
  "a string of escapes": { bytes: () => upload("%PDF-1.7\n1 0 obj\n(", "\\1"), problem: "complex" },
  "numbers without an end": { bytes: () => upload("%PDF-1.7\n1 0 obj\n[", "1 "), problem: "complex" },
  "objects without an end": { bytes: () => upload("%PDF-1.7\n", "1 0 obj\n"), problem: "broken" },
  "streams without an end": { bytes: () => upload("%PDF-1.7\n", "1 0 obj<<>>stream\n"), problem: "broken" },
  "many small objects": {
    bytes: () =>
      new TextEncoder().encode(
        `%PDF-1.7\n${Array.from({ length: 200_000 }, (_, i) => `${i} 0 obj[]endobj\n`).join("")}`,
      ),
    problem: "complex",
  },
  "a page of many operators": {
    bytes: () =>
      one(HELVETICA, packed(deflateSync(new TextEncoder().encode(`BT /F 9 Tf ${"(1)Tj ".repeat(3_000_000)}`)))),
  },
};

const HEAD = "From: a@example.com\r\nDate: Mon, 2 Nov 2026 08:00:00 +0100\r\nSubject: x\r\nMIME-Version: 1.0\r\n";
const part = (i: number) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`;
/** Inside a mail, the same file has no effect either. */
const MAILS: Record<string, () => Uint8Array> = {
  "parts in parts": () => new TextEncoder().encode(HEAD + Array.from({ length: 5_000 }, (_, i) => part(i)).join("")),
  "many parts": () => upload(`${HEAD}${part(1)}`, "Content-Type: application/pdf\r\n\r\nx\r\n--b1\r\n"),
  "an endless header": () => upload(HEAD, "X-A: b\r\n"),
  "an endless folded header": () => upload(`${HEAD}X-A: b\r\n`, " c\r\n"),
  "an endless text": () => upload(`${HEAD}\r\n`, "Total amount: 1.00 EUR\r\n"),
  "endless empty lines": () => new TextEncoder().encode(`${HEAD}\r\n${"\n".repeat(499_000)}`),
  "an endless line": () => upload(`${HEAD}\r\n`, "Total amount: 1.00 "),
  "endless HTML": () => upload(`${HEAD}Content-Type: text/html\r\n\r\n`, "<td>1.00&euro;<script>"),
  "quoted-printable": () => upload(`${HEAD}Content-Transfer-Encoding: quoted-printable\r\n\r\n`, "=C3=A9=\r\n"),
  "mails in mails": () => upload(HEAD, "Content-Type: message/rfc822\r\n\r\n"),
  "a zip bomb": () =>
    new TextEncoder().encode(
      `${HEAD}${part(1)}Content-Type: application/zip\r\nContent-Disposition: attachment; filename=a.zip\r\n` +
        `Content-Transfer-Encoding: base64\r\n\r\n${btoa("PK\x03\x04".padEnd(1_000_000, "0"))}\r\n--b1--`,
    ),
};

for (const [name, bytes] of Object.entries(MAILS)) {
  Deno.test(`hostile document: a mail with ${name}`, async () => {
    const file = bytes();
    assert(file.length <= MAX_DOCUMENT_BYTES, `${file.length} bytes`);
    const memory = process.memoryUsage.rss();
    const since = process.cpuUsage();
    const documents = await readDocument(file, { name: "a.eml", type: "" });
    const { user, system } = process.cpuUsage(since);
    assert(isInTime((user + system) / 1000, MOST_MS, "cpu"), `${(user + system) / 1000} ms`);
    const grown = (process.memoryUsage.rss() - memory) / 1_000_000;
    assert(grown < MOST_MB, `${grown} MB`);
    assert(documents.length <= 20);
  });
}

for (const [name, { bytes, problem }] of Object.entries(HOSTILE)) {
  Deno.test(`hostile document: ${name}`, async () => {
    const file = bytes();
    assert(file.length <= MAX_DOCUMENT_BYTES, `${file.length} bytes`);
    const memory = process.memoryUsage.rss();
    const since = process.cpuUsage();
    const [document] = await readDocument(file, { name: "a.pdf", type: "" });
    const { user, system } = process.cpuUsage(since);
    assert(isInTime((user + system) / 1000, MOST_MS, "cpu"), `${(user + system) / 1000} ms`);
    const grown = (process.memoryUsage.rss() - memory) / 1_000_000;
    assert(grown < MOST_MB, `${grown} MB`);
    if (problem) assertEquals(document!.refusal?.code, `invalid_argument.document_pdf_${problem}`);
    assertEquals(document!.facts?.gross, undefined);
    assertEquals(document!.bytes, file);
  });
}

Deno.test("a document of more than 10 MB is refused before it is read", async () => {
  const bytes = writePdf([[]]);
  const large = new Uint8Array(40_000_000);
  large.set(bytes);
  const [document] = await readDocument(large, { name: "a.pdf", type: "" });
  assertEquals(document!.refusal, { code: "invalid_argument.document_too_large", params: { most_mb: 10 } });
});
