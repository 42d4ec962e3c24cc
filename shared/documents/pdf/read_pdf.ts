/** Reads a PDF: its e-invoice if it has one, otherwise the text of its pages. */
import type { ReadDocument } from "../facts.ts";
import { readXml } from "../invoice/read_xml.ts";
import { Budget, MOST_PAGES, PdfRefused } from "./budget.ts";
import { readAttachments } from "./contents.ts";
import { PdfFile } from "./file.ts";
import { linesOf } from "../text/lines.ts";
import { readLines } from "../text/read_text.ts";
import { readPage } from "./page_text.ts";
import { pagesOf } from "./pages.ts";

/** Factur-X, ZUGFeRD 1 and XRechnung identify the invoice among other attachments by these file names. */
const NAMES = /^(?:factur-x|zugferd-invoice|xrechnung)\.xml$/i;

export function readPdf(bytes: Uint8Array): Pick<ReadDocument, "facts" | "layout" | "refusal"> {
  try {
    const file = new PdfFile(bytes, new Budget());
    const attachments = readAttachments(file);
    const pages = pagesOf(file);
    const named = attachments.filter(({ name }) => NAMES.test(name));
    const invoices = (named.length > 0 ? named : attachments).flatMap(({ text }) => readXml(text) ?? []);
    if (invoices.length === 1) return { facts: invoices[0]! };
    if (invoices.length > 1) {
      const questions = [{ code: "several_invoices", params: { count: invoices.length } }];
      return { facts: { kind: "other", format: "pdf", questions } };
    }
    return readLines(pages.flatMap((page) => linesOf(readPage(file, page))), "pdf");
  } catch (thrown) {
    if (!(thrown instanceof PdfRefused)) throw thrown;
    const params = thrown.problem === "long" ? { most: MOST_PAGES } : undefined;
    return { refusal: { code: `invalid_argument.document_pdf_${thrown.problem}`, ...(params && { params }) } };
  }
}
