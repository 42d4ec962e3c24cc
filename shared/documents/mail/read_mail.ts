/**
 * Reads a mail saved as a file (RFC 5322): its attachments are the documents; without attachments, the mail itself is
 * the document.
 */
import PostalMime, { type Attachment, type Email } from "postal-mime";
import { cleanLine } from "../../clean_text.ts";
import type { ReadDocument } from "../facts.ts";
import { typeOf } from "../file_type.ts";
import { textOfHtml } from "./html_text.ts";

export const MOST_ATTACHMENTS = 20;
const LIMITS = { maxNestingDepth: 20, maxRfc822NestingDepth: 5, maxHeadersSize: 256 * 1024 };

/**
 * Limits lines outside of base64: the library needs 16 µs per line, however short, and 20 s for a megabyte of nested
 * mails.
 */
const MOST_TEXT = 500_000;
const MOST_LINES = 20_000;
const MOST_FORWARDED = 10;
const BASE64 = /^[A-Za-z\d+/=]{40,100}$/;

/** Logos in signatures, and tracking pixels. */
const SMALLEST_PICTURE = 10_000;
/** Attachments that mail programs add: invitations, visiting cards, signatures, delivery reports. */
const ADDED = new Set([
  ...["text/calendar", "application/ics", "text/vcard", "text/x-vcard", "text/plain", "text/html"],
  ...["application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"],
  ...["application/pgp-keys", "message/delivery-status", "text/rfc822-headers"],
]);

export interface ReadMail {
  /** The attachments; undefined when there are too many. */
  attached?: Pick<ReadDocument, "name" | "type" | "bytes">[];
  /** The mail's own text. */
  text: string;
  /** The words of its HTML, if the mail also has a text, which may be only a few words. */
  html?: string;
}

/** Its HTML is never run or shown, only reduced to its words. */
export async function readMail(bytes: Uint8Array): Promise<ReadMail> {
  if (isTooMuch(bytes)) return { text: "" };
  const mail = await PostalMime.parse(bytes, LIMITS).catch(() => undefined);
  if (!mail || mail.attachments.length > 5 * MOST_ATTACHMENTS) return { text: "" };
  const attached = mail.attachments.filter((one) => isDocument(one, mail)).map((one, i) => ({
    name: nameOf(one) || `attachment ${i + 1}`,
    type: one.mimeType,
    bytes: bytesOf(one),
  }));
  const words = mail.html ? textOfHtml(mail.html) : "";
  const text = mail.text?.trim() ? mail.text : words;
  if (attached.length > MOST_ATTACHMENTS) return { text };
  return { attached, text, ...(text !== words && words !== "" && { html: words }) };
}

function isTooMuch(bytes: Uint8Array): boolean {
  let size = 0;
  let lines = 0;
  let forwarded = 0;
  for (const line of new TextDecoder("windows-1252").decode(bytes).split("\n")) {
    const plain = line.trimEnd();
    if (BASE64.test(plain)) continue;
    size += line.length + 1;
    if (plain.length < 1000 && /message\/rfc822/i.test(plain)) forwarded++;
    if (size > MOST_TEXT || ++lines > MOST_LINES || forwarded > MOST_FORWARDED) return true;
  }
  return false;
}

const bytesOf = ({ content }: Attachment): Uint8Array =>
  typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);

/** The name without its folder. */
const nameOf = ({ filename }: Attachment) => cleanLine(filename ?? "").split(/[/\\]/).at(-1)!.trim();

function isDocument(attachment: Attachment, { html = "" }: Email): boolean {
  const { mimeType, contentId = "", related } = attachment;
  if (ADDED.has(mimeType)) return false;
  const bytes = bytesOf(attachment);
  if (!typeOf(bytes)?.startsWith("image/") && !mimeType.startsWith("image/")) return bytes.length > 0;
  // Phones also send photos of receipts inline, but not within the text.
  const isWithin = related || contentId !== "" && html.includes(`cid:${contentId.replace(/[<>]/g, "")}`);
  return !isWithin && bytes.length >= SMALLEST_PICTURE;
}
