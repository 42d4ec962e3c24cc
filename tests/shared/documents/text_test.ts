/** Facts from an invoice's text: only with unambiguous labels, and never a wrong amount. */
import { assertEquals } from "@std/assert";
import type { DocumentFacts } from "../../../shared/documents/facts.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import { typedLines } from "../../../shared/documents/text/lines.ts";
import { readLines, readText } from "../../../shared/documents/text/read_text.ts";
import { pdfFile, stream } from "../../_support/documents/pdf.ts";

const read = (...lines: string[]): DocumentFacts => readText(typedLines(lines.join("\n")), "mail");
const said = ({ gross, payable, currency, questions }: DocumentFacts) => [
  ...[gross, payable, currency].map((one) => one ?? "-"),
  ...questions.map(({ code }) => code),
];

const TOTALS: [why: string, lines: string[], expected: string[]][] = [
  ["a total with its currency", ["Rechnungsbetrag: 1.119,00 EUR"], ["1119.00", "-", "EUR"]],
  ["the currency in the name", ["Total amount (CHF)  1'119.00"], ["1119.00", "-", "CHF"]],
  ["no currency", ["Grand total: 119.00"], ["-", "-", "-", "currency_unclear"]],
  ["a sign of several currencies", ["Grand total: $119.00"], ["-", "-", "-", "currency_unclear"]],
  ["a sign that a code explains", ["All amounts in CAD", "Grand total: $119.00"], ["119.00", "-", "CAD"]],
  ["two currencies", ["Grand total: 119.00 EUR", "Balance due: 119.00 USD"], ["-", "-", "-", "currency_unclear"]],
  ["two totals", ["Grand total: 119.00 EUR", "Grand total: 120.00 EUR"], ["-", "-", "-", "totals_unclear"]],
  ["one total twice", ["Grand total: 119.00 EUR", "Invoice total: 119.00 EUR"], ["119.00", "-", "EUR"]],
  ["what is left", ["Grand total: 119.00 EUR", "Paid: 100.00 EUR", "Balance due: 19.00 EUR"], [
    "119.00",
    "19.00",
    "EUR",
  ]],
  ["what is left, unexplained", ["Grand total: 119.00 EUR", "Balance due: 19.00 EUR"], [
    "-",
    "-",
    "-",
    "totals_unclear",
  ]],
  ["a total before tax", ["Subtotal: 100.00 EUR", "VAT: 19.00 EUR", "Total amount: 100.00 EUR"], [
    "-",
    "-",
    "-",
    "totals_unclear",
  ]],
  ["a larger total", ["Total amount: 100.00 EUR", "Total: 119.00 EUR"], ["-", "-", "-", "totals_unclear"]],
  ["a mere total that adds up", ["Total: 100.00 EUR", "VAT 19%: 19.00 EUR", "Total: 119.00 EUR"], [
    "119.00",
    "-",
    "EUR",
  ]],
  ["a mere total that does not", ["Subtotal: 100.00 EUR", "VAT: 19.00 EUR", "Total: 120.00 EUR"], [
    "-",
    "-",
    "-",
    "totals_unclear",
  ]],
  ["a mere total below another amount", ["Total: 20.00 EUR", "Deposit 80.00 EUR"], ["-", "-", "-", "totals_unclear"]],
  ["a negative total", ["Grand total: -119.00 EUR"], ["-", "-", "-", "totals_unclear"]],
  ["digits that can be read twice", ["Grand total: 1 119,00 EUR"], ["-", "-", "-", "totals_unclear"]],
  ["three decimals", ["Grand total: 1.119 EUR"], ["-", "-", "-"]],
  ["other words between", ["Total savings: 20.00 EUR", "Total page 1: 30.00 EUR"], ["-", "-", "-"]],
  ["a column of a list", ["Description   Qty   Total amount", "Power         1     100.00 EUR"], ["-", "-", "-"]],
  ["net, tax and gross side by side", ["Rechnungsbetrag  100,00 €  19,00 €  119,00 €"], ["119.00", "-", "EUR"]],
  ["several amounts side by side", ["Rechnungsbetrag  100,00 €  18,00 €  119,00 €"], ["-", "-", "-", "totals_unclear"]],
  ["a currency without decimals", ["Grand total: JPY 13,200"], ["13200", "-", "JPY"]],
  ["a percentage", ["Grand total incl. 19,00 % VAT: 119,00 EUR"], ["119.00", "-", "EUR"]],
];

for (const [why, lines, expected] of TOTALS) {
  Deno.test(`readText() returns a total only when it is certain: ${why}`, () => {
    assertEquals(said(read(...lines)), expected);
  });
}

Deno.test("readText() returns a date only when its order is certain", () => {
  const dates: [lines: string[], issued: string | undefined][] = [
    [["Invoice date: 03/02/2026"], undefined],
    [["Invoice date: 03/02/2026", "Shipped 25/01/2026"], "2026-02-03"],
    [["Invoice date: 03/02/2026", "Shipped 01/25/2026"], "2026-03-02"],
    [["Invoice date: 03/02/2026", "Sent 25/01/2026, 01/25/2026"], undefined],
    [["Date de facture : 03/02/2026"], "2026-02-03"],
    [["Invoice date: 31/02/2026"], undefined],
    [["Invoice date: 2026-02-03", "Invoice date: 2026-02-04"], undefined],
    [["Date: 2026-02-01", "Invoice date: 2026-02-03"], "2026-02-03"],
  ];
  for (const [lines, issued] of dates) assertEquals(read(...lines).issued_on, issued, lines.join());
  const { due_on: due, questions } = read("Due date: 2026-02-03", "Pay by: 2026-03-03");
  assertEquals([due, questions.map(({ code }) => code)], [undefined, ["several_due_dates"]]);
});

Deno.test("readText() returns a number only when it is complete", () => {
  const numbers: [line: string, number: string | undefined][] = [
    ["Invoice number: 2026-117", "2026-117"],
    ["Rechnung Nr. RE/17 vom 02.11.2026", "RE/17"],
    ["Invoice number: 2026 117", undefined],
    ["Invoice number: pending", undefined],
    ["Invoice number: 02.11.2026", undefined],
    ["Invoice numbering starts at 5", undefined],
  ];
  for (const [line, number] of numbers) assertEquals(read(line).number, number, line);
  assertEquals(read("Invoice number: A1", "Invoice no: A2").number, undefined);
});

Deno.test("readText() returns an account only with a valid checksum, alone, and when nothing is debited", () => {
  const iban = "IBAN: DE89 3704 0044 0532 0130 00";
  assertEquals(read(`${iban} BIC COBADEFFXXX`).iban, "DE89370400440532013000");
  assertEquals(read("IBAN: DE88 3704 0044 0532 0130 00").iban, undefined);
  assertEquals(read(iban, "Wird per Lastschrift abgebucht").iban, undefined);
  const { iban: none, questions } = read(iban, "IBAN: GB82 WEST 1234 5698 7654 32");
  assertEquals([none, questions.map(({ code }) => code)], [undefined, ["several_ibans"]]);
});

Deno.test("readText() takes the payee from its label or the sender's line, and none of two different ones", () => {
  const sender = "Muster GmbH · Ringweg 1 · 10115 Musterstadt";
  assertEquals(read(sender).payee, "Muster GmbH");
  assertEquals(read("Muster · Ringweg 1 · 10115 Musterstadt").payee, undefined);
  assertEquals(read("Sample GmbH", "Elm Road 5").payee, undefined);
  assertEquals(read(sender, "Kontoinhaber: MUSTER GMBH").payee, "Muster GmbH");
  assertEquals(read(sender, "Kontoinhaber: Andere GmbH").payee, undefined);
});

Deno.test("readText() recognizes a credit note, a reminder and a receipt by the first title", () => {
  const kinds = ["Gutschrift", "Zahlungserinnerung", "Reçu", "Facture", "Hello"].map((title) =>
    read("Sample Ltd", title, "Invoice").kind
  );
  assertEquals(kinds, ["credit_note", "reminder", "receipt", "invoice", "invoice"]);
});

/** One page in Helvetica. */
const page = async (content: string, font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>") => {
  const bytes = pdfFile(
    new Map([
      [1, "<</Type/Catalog/Pages 2 0 R>>"],
      [2, "<</Type/Pages/Kids[3 0 R]/Count 1>>"],
      [3, "<</Type/Page/Parent 2 0 R/Resources<</Font<</F 4 0 R>>>>/Contents 5 0 R>>"],
      [4, font],
      [5, stream("", content)],
    ]),
  );
  return (await readDocument(bytes, { name: "a.pdf", type: "" }))[0]!.facts!;
};
const TOTAL = "(Grand total: 119.00 EUR) Tj";

Deno.test("readDocument() reads no invisible, upside-down or vertical text, and no letters of unknown fonts", async () => {
  assertEquals((await page(`BT /F 9 Tf ${TOTAL} ET`)).gross, "119.00");
  assertEquals((await page(`BT /F 9 Tf 3 Tr ${TOTAL} ET`)).gross, undefined);
  assertEquals((await page(`BT /F 9 Tf 0 1 -1 0 0 0 Tm ${TOTAL} ET`)).gross, undefined);
  assertEquals((await page(`BT /F 9 Tf -1 0 0 -1 0 0 Tm ${TOTAL} ET`)).gross, undefined);
  const own = "<</Subtype/TrueType/FontDescriptor<</Flags 4/FontFile2 9 0 R>>>>";
  assertEquals((await page(`BT /F 9 Tf ${TOTAL} ET`, own)).gross, undefined);
});

Deno.test("readDocument() keeps columns apart, and joins letters that are kerned", async () => {
  const columns = "BT /F 9 Tf (Grand total:) Tj 200 0 Td (1) Tj 20 0 Td (119.00 EUR) Tj ET";
  assertEquals((await page(columns)).gross, undefined, "an amount behind a quantity");
  assertEquals((await page("BT /F 9 Tf [(Grand to) 20 (tal: 11) -30 (9.00 EUR)] TJ ET")).gross, "119.00");
  assertEquals((await page("BT /F 9 Tf [(Grand) -300 (total: 119.00 EUR)] TJ ET")).gross, "119.00");
});

Deno.test("readText() reads the date after a number and beside a place", () => {
  const dated = (...lines: string[]) => read(...lines).issued_on;
  assertEquals(dated("Rechnung Nr. 2026-0831 vom 31.08.2026"), "2026-08-31");
  assertEquals(dated("Facture n° F-12 du 31/08/2026", "Total TTC 5,00 EUR"), "2026-08-31");
  assertEquals(dated("Frankfurt (Oder), den 31. August 2026"), "2026-08-31");
  // A labeled date takes precedence; two unlabeled dates yield none.
  assertEquals(dated("Berlin, 31.08.2026", "Rechnungsdatum: 30.08.2026"), "2026-08-30");
  assertEquals(dated("Berlin, 31.08.2026", "Bonn, 30.08.2026"), undefined);
  assertEquals(dated("Lieferung, 12 Stück", "Hamburg, 20457"), undefined);
});

Deno.test("readText() recognizes the kind of a compound title", () => {
  const kinds = [
    "Ihre Stromrechnung",
    "Honorarrechnung",
    "Letzte Mahnung",
    "2. Mahnung",
    "Stornorechnung",
    "Rechnungsnummer: 4711",
  ]
    .map((title) => read(title).kind);
  assertEquals(kinds, ["invoice", "invoice", "reminder", "reminder", "credit_note", "other"]);
});

Deno.test("readLines() keeps the letterhead and companies of an invoice whose payee it could not read", () => {
  const names = (...lines: string[]) => readLines(typedLines(lines.join("\n")), "mail").layout?.names;
  const body = Array.from({ length: 12 }, (_, nth) => `Position ${nth}`);
  assertEquals(names("MediaMarkt", "12345", ...body, "Media Markt Elektro GmbH")?.filter((name) => !/Pos/.test(name)), [
    "MediaMarkt",
    "Media Markt Elektro GmbH",
  ]);
  assertEquals(names("Verkäufer: MediaMarkt", ...body), undefined);
});
