/** Readers of documents: whole ones, and their single fields. */
import { readIban, readReference } from "../../../shared/documents/checksums.ts";
import { currencyOf, dayOf, nameOf, numberOf } from "../../../shared/documents/fields.ts";
import { withSign } from "../../../shared/documents/invoice/kind.ts";
import { readEn16931 } from "../../../shared/documents/invoice/read_en16931.ts";
import { readFattura } from "../../../shared/documents/invoice/read_fattura.ts";
import { readXml } from "../../../shared/documents/invoice/read_xml.ts";
import { groupOf } from "../../../shared/documents/invoice/settle.ts";
import { CII, UBL } from "../../../shared/documents/invoice/syntax.ts";
import { typeOf } from "../../../shared/documents/file_type.ts";
import { Budget } from "../../../shared/documents/pdf/budget.ts";
import { readAttachments } from "../../../shared/documents/pdf/contents.ts";
import { PdfFile } from "../../../shared/documents/pdf/file.ts";
import { unfilter } from "../../../shared/documents/pdf/filters.ts";
import { readPdf } from "../../../shared/documents/pdf/read_pdf.ts";
import { Name, ValueReader } from "../../../shared/documents/pdf/values.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import type { Run } from "../cost.ts";
import { all, bytes, CSV, LINE, type Parser } from "./limits.ts";

const read: (name: string) => Run = (name) => (text) => readDocument(bytes(text), { name, type: "" });

const documents: Record<string, Run> = {
  "readDocument()": read("a.xml"),
  "readDocument() of XML": (text) => read("a.xml")(`<Invoice><InvoiceLine>${text}`),
  "readEn16931()": (text) => readEn16931(`<Invoice><ID>${text}</ID><TaxTotal><TaxAmount>${text}`, UBL),
  "readEn16931() of CII": (text) =>
    readEn16931(`<CrossIndustryInvoice><GuidelineSpecifiedDocumentContextParameter><ID>${text}`, CII),
  "readFattura()": (text) =>
    readFattura(`<FatturaElettronica><FatturaElettronicaBody><DettaglioLinee><PrezzoTotale>${text}`),
  "readXml()": (text) => [readXml(text), readXml(`<Invoice>${text}`)],
};

const PDF = "%PDF-1.7\n1 0 obj\n";
const filtered = (name: string): Run => (text) =>
  unfilter(new Map([["Filter", new Name(name)]]), bytes(text), new Budget());

const pdf: Record<string, Run> = {
  "readDocument() of PDF": (text) => read("a.pdf")(`${PDF}${text}`),
  "readPdf()": (text) => readPdf(bytes(`${PDF}<</Length 5>>stream\n${text}`)),
  "readPdf() of a string": (text) => readPdf(bytes(`${PDF}(${text}`)),
  "readPdf() of an attachment": (text) =>
    readAttachments(
      new PdfFile(bytes(`${PDF}<</F(${text})/EF<</F 2 0 R>>>> 2 0 obj <<>>stream\n<${text}`), new Budget()),
    ),
  "ValueReader": (text) => {
    for (const reader = new ValueReader(text, new Budget()); reader.next() !== undefined;);
  },
  "unfilter()": filtered("FlateDecode"),
  "unfilter() of ASCII85": filtered("ASCII85Decode"),
  "unfilter() of hexadecimal digits": filtered("ASCIIHexDecode"),
  "typeOf()": (text) => typeOf(bytes(text)),
};

const fields: Record<string, Run> = {
  "fields of a document": (text) => [nameOf(text), numberOf(text), dayOf(text), currencyOf(text), groupOf("S", text)],
  "readIban() and readReference()": (text) => [readIban(text), readReference(text)],
  "withSign()": (text) => withSign({ kind: "invoice", format: "ubl", gross: `-${text}`, net: text, questions: [] }),
};

export const DOCUMENT_PARSERS: readonly Parser[] = [
  ...all(documents, CSV),
  ...all(pdf, CSV, 1_000),
  ...all(fields, LINE),
];
