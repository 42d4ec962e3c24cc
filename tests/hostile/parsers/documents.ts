/** Readers of documents: whole ones, and their single fields. */
import { readIban, readReference } from "../../../shared/documents/checksums.ts";
import { currencyOf, dayOf, nameOf, numberOf } from "../../../shared/documents/fields.ts";
import { withSign } from "../../../shared/documents/invoice/kind.ts";
import { readEn16931 } from "../../../shared/documents/invoice/read_en16931.ts";
import { readFattura } from "../../../shared/documents/invoice/read_fattura.ts";
import { readXml } from "../../../shared/documents/invoice/read_xml.ts";
import { groupOf } from "../../../shared/documents/invoice/settle.ts";
import { CII, UBL } from "../../../shared/documents/invoice/syntax.ts";
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

const fields: Record<string, Run> = {
  "fields of a document": (text) => [nameOf(text), numberOf(text), dayOf(text), currencyOf(text), groupOf("S", text)],
  "readIban() and readReference()": (text) => [readIban(text), readReference(text)],
  "withSign()": (text) => withSign({ kind: "invoice", format: "ubl", gross: `-${text}`, net: text, questions: [] }),
};

export const DOCUMENT_PARSERS: readonly Parser[] = [...all(documents, CSV), ...all(fields, LINE)];
