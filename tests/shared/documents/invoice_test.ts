/** Amounts of an e-invoice count as facts only if lines, taxes and totals prove them. */
import { assertEquals } from "@std/assert";
import { readXml } from "../../../shared/documents/invoice/read_xml.ts";
import { SIMPLE } from "../../fixtures/documents/invoices.ts";
import { writeCii } from "../../_support/documents/cii.ts";
import { writeFattura } from "../../_support/documents/fattura.ts";
import type { Invoice } from "../../_support/documents/invoice.ts";
import { writeUbl } from "../../_support/documents/ubl.ts";

const { totals } = SIMPLE;
const [line] = SIMPLE.lines;
const [tax] = SIMPLE.taxes;

/** Faults, by the name of the check that finds each. */
const WRONG: [check: string, invoice: Partial<Invoice>][] = [
  ["line", { lines: [{ ...line!, quantity: "5" }] }],
  ["line", { lines: [{ ...line!, allowance: "1.00" }] }],
  ["line", { lines: [{ ...line!, charge: "1.00" }] }],
  ["line", { lines: [{ ...line!, per: "2" }] }],
  ["line", { lines: [{ ...line!, net: "1OO.00" }] }],
  ["lines", { totals: { ...totals, lines: "100.01" } }],
  ["allowances", { allowances: [{ amount: "1.00", rate: "19" }], totals: { ...totals, allowances: "2.00" } }],
  ["charges", { charges: [{ amount: "1.00", rate: "19" }], totals: { ...totals, charges: "2.00" } }],
  ["tax_net", { taxes: [{ ...tax!, rate: "7", tax: "7.00" }] }],
  ["tax_net", { taxes: [tax!, { ...tax!, category: "Z", rate: "0", net: "1.00", tax: "0.00" }] }],
  ["tax", { taxes: [{ ...tax!, tax: "19.01" }] }],
  ["tax", { totals: { ...totals, tax: "19.01" } }],
  ["net", { charges: [{ amount: "1.00", rate: "0" }] }],
  ["gross", { totals: { ...totals, gross: "120.00" } }],
  ["payable", { totals: { ...totals, payable: "118.99" } }],
  ["payable", { totals: { ...totals, prepaid: "19.00" } }],
  ["payable", { totals: { ...totals, rounding: "0.01" } }],
  ["gross", { totals: { ...totals, gross: "" } }],
  ["payable", { totals: { ...totals, payable: "" } }],
];

for (const [check, invoice] of WRONG) {
  Deno.test(`readXml() returns no amount of an invoice with a wrong ${check}: ${JSON.stringify(invoice)}`, () => {
    for (const write of [writeUbl, writeCii]) {
      const { net, taxes, gross, payable, questions } = readXml(write({ ...SIMPLE, ...invoice }))!;
      assertEquals([net, taxes, gross, payable], [undefined, undefined, undefined, undefined]);
      assertEquals(questions.map(({ code, params }) => [code, params?.check]), [["totals_differ", check]]);
    }
  });
}

Deno.test("readXml() returns no amount when a total appears twice", () => {
  const twice = writeUbl(SIMPLE).replace(/<cbc:PayableAmount.*?<\/cbc:PayableAmount>/, (total) => total + total);
  assertEquals(readXml(twice)!.payable, undefined);
});

Deno.test("readXml() continues a value after a comment and in a CDATA section", () => {
  const split = writeUbl(SIMPLE).replaceAll(">119.00<", ">11<!-- -->9.<![CDATA[00]]><")
    .replace(">2026-117<", "><![CDATA[2026]]>-118<");
  const { payable, number } = readXml(split)!;
  assertEquals([payable, number], ["119.00", "2026-118"]);
});

Deno.test("readXml() omits the amounts of a credit note with a negative total", () => {
  const negative = { net: "-1.00", tax: "0.00", gross: "-1.00", payable: "-1.00" };
  const lines = [{ net: "-1.00", rate: "0", category: "E" }];
  const taxes = [{ rate: "0", net: "-1.00", tax: "0.00", category: "E" }];
  const { kind, gross, questions } = readXml(writeUbl({ ...SIMPLE, type: "381", lines, taxes, totals: negative }))!;
  assertEquals([kind, gross, questions[0]?.code], ["credit_note", undefined, "credit_note_negative"]);
});

Deno.test("readXml() reads none of several invoices in a file", () => {
  const facts = readXml(writeFattura({ ...SIMPLE, bodies: 2 }))!;
  assertEquals(facts.questions, [{ code: "several_invoices", params: { count: 2 } }]);
  assertEquals([facts.number, facts.gross], [undefined, undefined]);
});

Deno.test("readXml() omits the amount due when the payments of a FatturaPA differ from it", () => {
  const { gross, payable, questions } = readXml(writeFattura({ ...SIMPLE, payments: [["2026-11-16", "100.00"]] }))!;
  assertEquals([gross, payable], ["119.00", undefined]);
  assertEquals(questions.map(({ params }) => params?.check), ["payable"]);
});

Deno.test("readXml() subtracts VAT that the customer pays to the state from a FatturaPA", () => {
  const { gross, payable } = readXml(writeFattura({ ...SIMPLE, isSplit: true }))!;
  assertEquals([gross, payable], ["119.00", "100.00"]);
});

Deno.test("readXml() omits a number that is too long, an IBAN with a wrong checksum and a nonexistent day", () => {
  const facts = readXml(
    writeUbl({ ...SIMPLE, number: "1".repeat(61), iban: "DE88370400440532013000", due: ["2026-02-30"] }),
  )!;
  assertEquals([facts.number, facts.iban, facts.due_on], [undefined, undefined, undefined]);
});

Deno.test("readXml() reads neither other XML, a document type nor endless elements", () => {
  assertEquals(readXml("<html><body>Invoice</body></html>"), undefined);
  assertEquals(readXml(`<!DOCTYPE Invoice [<!ENTITY a "1">]>${writeUbl(SIMPLE)}`), undefined);
  assertEquals(readXml(writeUbl(SIMPLE).replace("<cbc:ID>", `${"<a/>".repeat(50_001)}<cbc:ID>`)), undefined);
});
