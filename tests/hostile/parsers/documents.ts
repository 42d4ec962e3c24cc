/** Readers of documents: whole ones, and their single fields. */
import { readIban, readReference } from "../../../shared/documents/checksums.ts";
import { currencyOf, dayOf, nameOf, numberOf } from "../../../shared/documents/fields.ts";
import { withSign } from "../../../shared/documents/invoice/kind.ts";
import { readEn16931 } from "../../../shared/documents/invoice/read_en16931.ts";
import { readFattura } from "../../../shared/documents/invoice/read_fattura.ts";
import { readXml } from "../../../shared/documents/invoice/read_xml.ts";
import { groupOf } from "../../../shared/documents/invoice/settle.ts";
import { CII, UBL } from "../../../shared/documents/invoice/syntax.ts";
import { isArchive, isMail, isWinmail, typeOf } from "../../../shared/documents/file_type.ts";
import { textOfHtml } from "../../../shared/documents/mail/html_text.ts";
import { readMail } from "../../../shared/documents/mail/read_mail.ts";
import { Budget } from "../../../shared/documents/pdf/budget.ts";
import { readAttachments } from "../../../shared/documents/pdf/contents.ts";
import { PdfFile } from "../../../shared/documents/pdf/file.ts";
import { unfilter } from "../../../shared/documents/pdf/filters.ts";
import { readFont } from "../../../shared/documents/pdf/font.ts";
import { letterOfGlyph, standardWidths } from "../../../shared/documents/pdf/glyphs.ts";
import { readPage } from "../../../shared/documents/pdf/page_text.ts";
import { readPdf } from "../../../shared/documents/pdf/read_pdf.ts";
import { Name, Ref, ValueReader } from "../../../shared/documents/pdf/values.ts";
import { findLabels } from "../../../shared/documents/text/find_labels.ts";
import { COMPANY, DEBIT, KINDS } from "../../../shared/documents/text/labels.ts";
import { typedLines } from "../../../shared/documents/text/lines.ts";
import { placesOf, taxIdOf } from "../../../shared/documents/text/places.ts";
import { readText } from "../../../shared/documents/text/read_text.ts";
import { findTotals } from "../../../shared/documents/text/totals.ts";
import { amountsIn, dayAt, plainText } from "../../../shared/documents/text/values.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import { tokensOf } from "../../../shared/inbound/address.ts";
import { describeMail } from "../../../shared/inbound/describe_mail.ts";
import type { InboundKind } from "../../../shared/inbound/inbound_url.ts";
import { aboveFirstHop, readMailHeader } from "../../../shared/inbound/mail_header.ts";
import { postmark } from "../../../shared/inbound/postmark.ts";
import { hasBasicSecret } from "../../../shared/inbound/service.ts";
import { judgeSender } from "../../../shared/inbound/verdicts.ts";
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

const inbound = (kind: InboundKind) => ({ kind, domain: "in.example.com", user: "a", secrets: ["a"] });
const FROM = "From: a@b.example\n";
const HOP = "Received: from a\n by inbound-smtp.eu-west-1.amazonaws.com x\n";

const forwarded: Record<string, Run> = {
  "readMailHeader()": (text) => aboveFirstHop(readMailHeader(bytes(text))),
  "describeMail()": (text) =>
    Promise.all([
      describeMail(bytes(text), inbound("raw")),
      describeMail(bytes(`${FROM}Subject: ${text}`), inbound("raw")),
      describeMail(bytes(`From: ${text}`), inbound("raw")),
    ]),
  "judgeSender()": (text) =>
    ["X-Spam-Tests", "Received-SPF", "Authentication-Results", "X-Envelope-From", "DKIM-Signature"].map((name) => {
      const field = `${name}: ${name === "Authentication-Results" ? "in.example.com; dkim=pass " : ""}${text}\n`;
      return [
        judgeSender(readMailHeader(bytes(field + HOP + FROM)), "b.example", inbound("postmark")),
        judgeSender(readMailHeader(bytes(field + HOP + FROM)), "b.example", inbound("mailgun")),
        judgeSender(readMailHeader(bytes(field + HOP + FROM)), "b.example", inbound("raw")),
        judgeSender(readMailHeader(bytes(HOP + field + FROM)), "b.example", inbound("resend")),
      ];
    }),
  "tokensOf()": (text) => tokensOf([text, `in+${text}`], "in.example.com"),
  "hasBasicSecret()": (text) =>
    hasBasicSecret({ get: () => `Basic ${text}` } as unknown as Headers, inbound("postmark")),
  "postmark.read()": (text) =>
    postmark.read({ headers: new Headers(), body: bytes(text), at: new Date(0) }, inbound("postmark")),
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
  "typeOf()": (text) => [typeOf, isMail, isArchive, isWinmail].map((is) => is(bytes(text))),
};

/** A page with one font, with this table and these contents. */
const paged = (content: string, table = "") =>
  readPdf(bytes(
    "%PDF-1.7 1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>endobj 4 0 obj" +
      `<</ToUnicode 5 0 R>>endobj 5 0 obj<<>>stream\n${table}\nendstream endobj trailer<</Root 1 0 R>> 3 0 obj<<>>stream\n${content}`,
  ));

const texts: Record<string, Run> = {
  "readPage()": (text) => readPage(pageFile(`BT /F 9 Tf ${text}`), PAGE),
  "readPage() of a text": (text) => readPage(pageFile(`BT /F 9 Tf (${text}) Tj`), PAGE),
  "readPdf() of a table of letters": (text) => paged("BT /F 9 Tf (a) Tj", `beginbfchar ${text}`),
  "typedLines() and readText()": (text) => readText(typedLines(text), "mail"),
  "readText() of a total": (text) => readText(typedLines(`Total amount: ${text}\nInvoice number: ${text}`), "mail"),
};

const PAGE = { dict: new Map([["Contents", new Ref(1)]]), resources: new Map(), turns: 0 };
const pageFile = (content: string) => new PdfFile(bytes(`%PDF-1.7 1 0 obj<<>>stream\n${content}`), new Budget());

const mail = (header: string, body = "Total: 119.00 EUR") =>
  readMail(bytes(`From: a@seller.example\r\nMIME-Version: 1.0\r\n${header}\r\n\r\n${body}`));

const mails: Record<string, Run> = {
  "textOfHtml()": (text) => textOfHtml(text),
  "readMail() of a text": (text) => mail("Content-Type: text/plain; charset=utf-8", text),
  "readMail() of HTML": (text) => mail("Content-Type: text/html", text),
  "readMail() of a header": (text) => mail(`Subject: ${text}`),
  "readMail() of a name": (text) => mail(`Content-Type: application/pdf; name="${text}"`),
  "readMail() of parts": (text) => mail("Content-Type: multipart/mixed; boundary=b", `--b\r\n${text}\r\n--b--`),
};

const fields: Record<string, Run> = {
  "fields of a document": (text) => [nameOf(text), numberOf(text), dayOf(text), currencyOf(text), groupOf("S", text)],
  "readIban() and readReference()": (text) => [readIban(text), readReference(text)],
  "values of a text": (
    text,
  ) => [plainText(text), dayAt(text), amountsIn(text), letterOfGlyph(text), standardWidths(text)],
  "labels of a text": (text) => [KINDS.map(([, kind]) => kind.test(text)), DEBIT.test(text), COMPANY.test(text)],
  "findLabels() and findTotals()": (text) => {
    const lines = typedLines(`Total amount: ${text}`);
    return findTotals(lines, findLabels(lines));
  },
  "placesOf()": (text) => [placesOf(typedLines(text), "DMY"), placesOf(typedLines(`Amount:\n${text}`), undefined)],
  "taxIdOf()": (text) => [taxIdOf([text]), taxIdOf([`DE${text}`])],
  "readFont()": (text) => readFont(pageFile(""), new Map([["BaseFont", new Name(text)]]))(text.slice(0, 9)),
  "withSign()": (text) => withSign({ kind: "invoice", format: "ubl", gross: `-${text}`, net: text, questions: [] }),
};

/** tests/hostile/documents_test.ts tests whole files. */
const PIECE = 65_536;

export const DOCUMENT_PARSERS: readonly Parser[] = [
  ...all(documents, CSV),
  ...all(pdf, PIECE),
  ...all(texts, PIECE),
  ...all(mails, PIECE, 500),
  ...all(forwarded, PIECE),
  ...all(fields, LINE),
];
