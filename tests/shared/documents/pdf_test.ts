/** A PDF with an e-invoice is read like the XML alone; one with active content is refused. */
import { assertEquals } from "@std/assert";
import { readXml } from "../../../shared/documents/invoice/read_xml.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import { INVOICES } from "../../fixtures/documents/invoices.ts";
import { pdfFile, type PdfStyle, stream, writePdf } from "../../_support/documents/pdf.ts";

const PAGE = [[{ x: 50, y: 50, text: "See the attached invoice" }]];

const read = async (bytes: Uint8Array) => (await readDocument(bytes, { name: "a.pdf", type: "" }))[0]!;
const invoiceIn = (name: string, invoice: string, style: PdfStyle = {}) =>
  writePdf(PAGE, { ...style, attachments: [{ name, content: invoice }] });

Deno.test("readDocument() reads an e-invoice in a PDF exactly like the XML alone", async () => {
  for (const [sample, invoice] of Object.entries(INVOICES)) {
    for (const style of [{}, { isCompressed: true, isPacked: true }]) {
      const { type, facts, refusal } = await read(invoiceIn("factur-x.xml", invoice, style));
      assertEquals([type, refusal], ["application/pdf", undefined], sample);
      assertEquals(facts, readXml(invoice), sample);
    }
  }
});

Deno.test("readDocument() reads the invoice among other attachments, and asks when there are two", async () => {
  const [one, two] = [INVOICES["facturx-mixed"]!, INVOICES["zugferd-1"]!];
  const attachments = [
    { name: "hours.xml", content: "<hours/>" },
    { name: "other.xml", content: two },
    { name: "ZUGFeRD-invoice.xml", content: one },
    { name: "terms.pdf", content: writePdf(PAGE) },
  ];
  assertEquals((await read(writePdf(PAGE, { attachments }))).facts, readXml(one));
  const unnamed = attachments.map(({ content }, i) => ({ name: `${i}.xml`, content }));
  assertEquals((await read(writePdf(PAGE, { attachments: unnamed }))).facts, {
    kind: "other",
    format: "pdf",
    questions: [{ code: "several_invoices", params: { count: 2 } }],
  });
});

Deno.test("readDocument() reads the newest state of a changed PDF", async () => {
  const [old, now] = [INVOICES["facturx-mixed"]!, INVOICES["zugferd-1"]!].map((invoice) =>
    invoiceIn("factur-x.xml", invoice)
  ) as [Uint8Array, Uint8Array];
  const changed = new Uint8Array([...old, ...now]);
  assertEquals((await read(changed)).facts, readXml(INVOICES["zugferd-1"]!));
});

const REFUSED: [problem: string, why: string, bytes: () => Uint8Array][] = [
  ["encrypted", "a password", () => writePdf(PAGE, { trailer: "/Encrypt<</Filter/Standard/V 2>>" })],
  ["encrypted", "a password, packed", () => writePdf(PAGE, { isPacked: true, trailer: "/Encrypt 3 0 R" })],
  ["active", "a script at opening", () => writePdf(PAGE, { catalog: "/OpenAction<</S/JavaScript/JS(app.alert(1))>>" })],
  ["active", "a script under another spelling", () => writePdf(PAGE, { catalog: "/OpenAction<</S/Java#53cript>>" })],
  ["active", "a script in a packed object", () => writePdf(PAGE, { isPacked: true, objects: ["<</S/JavaScript>>"] })],
  ["active", "a script that is not named one", () => writePdf(PAGE, { catalog: "/AA<</O<</JS(x)>>>>" })],
  ["active", "a program to start", () => writePdf(PAGE, { objects: ["<</S/Launch/F(cmd.exe)>>"] })],
  [
    "active",
    "a program by its name",
    () => writePdf(PAGE, { attachments: [{ name: "invoice.pdf.exe", content: "x" }] }),
  ],
  ["active", "a program by its bytes", () => writePdf(PAGE, { attachments: [{ name: "a.xml", content: "MZ\x90" }] })],
  ["active", "a document with macros", () => writePdf(PAGE, { attachments: [{ name: "a.docm", content: "PK" }] })],
  ["broken", "no page", () => pdfFile(new Map([[1, "<</Type/Catalog/Pages 2 0 R>>"], [2, "<</Kids[]>>"]]))],
  ["broken", "nothing but a header", () => new TextEncoder().encode("%PDF-1.4\nno objects")],
];

for (const [problem, why, bytes] of REFUSED) {
  Deno.test(`readDocument() refuses a PDF with ${why}`, async () => {
    const { type, facts, refusal } = await read(bytes());
    assertEquals([type, facts, refusal?.code], [
      "application/pdf",
      undefined,
      `invalid_argument.document_pdf_${problem}`,
    ]);
  });
}

Deno.test("readDocument() recognizes pictures by their bytes and reads nothing from them", async () => {
  const heic = [0, 0, 0, 24, ...new TextEncoder().encode("ftypheic")];
  const types: [type: string, start: number[]][] = [
    ["image/jpeg", [0xff, 0xd8, 0xff, 0xe0, 1]],
    ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]],
    ["image/heic", heic],
  ];
  for (const [type, start] of types) {
    const [document] = await readDocument(Uint8Array.from(start), { name: "invoice.xml", type: "text/html" });
    assertEquals([document!.type, document!.facts], [type, { kind: "other", format: "image", questions: [] }]);
  }
  for (const start of [[0x89, 0x50], [0xff, 0xd8, 0], [0, 0, 0, 24, ...new TextEncoder().encode("ftypisom")]]) {
    const [document] = await readDocument(Uint8Array.from(start), { name: "photo.png", type: "image/png" });
    assertEquals(document!.refusal?.code, "invalid_argument.document_unknown_kind");
  }
});

Deno.test("pdfFile() and stream() write files that match their dictionaries", () => {
  const text = new TextDecoder("latin1").decode(pdfFile(new Map([[1, stream("/A 1", "four")]])));
  assertEquals(text.includes("<</A 1/Length 4>>stream\nfour\nendstream"), true);
});
