/** Reads a file's facts about payments: bytes in, facts out. Recognizes a file by its content, not its name. */
import { decodeFile } from "../import/decode_file.ts";
import type { RefusalFacts } from "../words/message.ts";
import type { ReadDocument } from "./facts.ts";
import { isArchive, isMail, isWinmail, typeOf } from "./file_type.ts";

export const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;

/**
 * @param file.name the sender's name for the file @param file.type the media type that the sender claims
 * @param depth the number of mails around the file
 * @returns one document; for a mail, one per attachment or, without attachments, its own text
 */
export async function readDocument(
  bytes: Uint8Array,
  { name, type }: { name: string; type: string },
  depth = 0,
): Promise<ReadDocument[]> {
  const own = { name, type, bytes };
  if (bytes.length > MAX_DOCUMENT_BYTES) {
    return [{ ...own, refusal: refuse("too_large", { most_mb: MAX_DOCUMENT_BYTES / 1024 / 1024 }) }];
  }
  if (bytes.length === 0) return [{ ...own, refusal: refuse("empty") }];
  const known = typeOf(bytes);
  if (known === "application/pdf") {
    const { readPdf } = await import("./pdf/read_pdf.ts");
    return [{ ...own, type: known, ...readPdf(bytes) }];
  }
  if (known) return [{ ...own, type: known, facts: { kind: "other", format: "image", questions: [] } }];
  if (isWinmail(bytes)) return [{ ...own, refusal: refuse("winmail") }];
  if (isMail(bytes)) return await mailed(own, depth);
  // A workbook may be a statement.
  if (depth > 0 && isArchive(bytes)) return [{ ...own, refusal: refuse("archive") }];
  const { text } = decodeFile(bytes);
  if (text.trimStart().startsWith("<")) {
    const { readXml } = await import("./invoice/read_xml.ts");
    const facts = readXml(text);
    return [{ ...own, type: "application/xml", ...(facts ? { facts } : { refusal: refuse("unknown_xml") }) }];
  }
  return [{ ...own, refusal: refuse("unknown_kind") }];
}

/** Mails within mails are forwarded ones. */
const DEEPEST = 4;

export interface MailPart {
  documents: ReadDocument[];
  /** Whether more attachments follow. */
  hasMore: boolean;
}

/** Reads one attachment of a mail, for processes with little time. @param at its position, from 0 */
export async function readMailPart(bytes: Uint8Array, { name, at }: { name: string; at: number }): Promise<MailPart> {
  const own = { name, type: "message/rfc822", bytes };
  if (!isMail(bytes)) return { documents: [{ ...own, refusal: refuse("unknown_kind") }], hasMore: false };
  const { readMail } = await import("./mail/read_mail.ts");
  const { attached = [] } = await readMail(bytes);
  const part = attached[at];
  if (!part) return { documents: at === 0 ? await readDocument(bytes, own) : [], hasMore: false };
  return {
    documents: await readDocument(part.bytes, part, 1),
    hasMore: at + 1 < attached.length,
  };
}

async function mailed(own: Pick<ReadDocument, "name" | "type" | "bytes">, depth: number): Promise<ReadDocument[]> {
  const { MOST_ATTACHMENTS, readMail } = await import("./mail/read_mail.ts");
  const { attached, text, html } = await readMail(own.bytes);
  const mail = { ...own, type: "message/rfc822" };
  const tooMuch = [{ ...mail, refusal: refuse("mail_complex", { most: MOST_ATTACHMENTS }) }];
  if (!attached || depth === DEEPEST) return tooMuch;
  if (attached.length === 0) {
    const [{ typedLines }, { readLines }] = await Promise.all([
      import("./text/lines.ts"),
      import("./text/read_text.ts"),
    ]);
    const read = readLines(typedLines(text), "mail");
    const isRead = read.facts.gross !== undefined || read.facts.questions.length > 0;
    const shown = isRead || !html ? read : readLines(typedLines(html), "mail");
    return [{ ...mail, ...(shown.facts.gross === undefined ? read : shown) }];
  }
  const documents: ReadDocument[] = [];
  for (const { name, type, bytes } of attached) {
    documents.push(...await readDocument(bytes, { name, type }, depth + 1));
    if (documents.length > MOST_ATTACHMENTS) return tooMuch;
  }
  return documents;
}

const refuse = (reason: string, params?: Record<string, unknown>): RefusalFacts => ({
  code: `invalid_argument.document_${reason}`,
  ...(params && { params }),
});
