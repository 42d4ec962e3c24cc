/** The type of a file according to its first bytes, whatever its name. */

/** Some bytes may come before a PDF's header. */
const PDF_START = 1024;
/** HEIF (ISO/IEC 23008-12) with pictures as phones take them. */
const HEIC = /^ftyp(?:heic|heix|heim|heis|hevc|hevx|mif1|msf1)/;

const letters = (bytes: Uint8Array, from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));

/** @returns the media type of a PDF or a picture; undefined for everything else. */
export function typeOf(bytes: Uint8Array): "application/pdf" | "image/jpeg" | "image/png" | "image/heic" | undefined {
  const start = letters(bytes, 0, PDF_START);
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (HEIC.test(start.slice(4, 12))) return "image/heic";
  return /(?:^|[\r\n])[^<]{0,400}%PDF-\d/.test(start) || start.startsWith("%PDF-") ? "application/pdf" : undefined;
}

/** Outlook's own format (TNEF), which only Outlook reads. */
export const isWinmail = (bytes: Uint8Array): boolean => letters(bytes, 0, 4) === "\x78\x9f\x3e\x22";

/** ZIP, which office programs also write. */
export const isArchive = (bytes: Uint8Array): boolean => letters(bytes, 0, 4) === "PK\x03\x04";

const MAIL_START = 32_768;
const FIELD = /^(?:[!-9;-~]{1,80}:|[ \t]|$)/;

/** Whether its first lines are header fields of a mail, including some that every mail has. */
export function isMail(bytes: Uint8Array): boolean {
  const lines = letters(bytes, 0, MAIL_START).split(/\r?\n/);
  if (lines[0]!.startsWith("From ")) lines.shift();
  const end = lines.findIndex((line) => line === "" || !FIELD.test(line));
  const head = end < 0 ? lines : lines.slice(0, end);
  const has = (pattern: RegExp) => head.some((line) => pattern.test(line));
  return has(/^from:/i) && has(/^(?:date|received):/i) && has(/^(?:subject|to|message-id|mime-version):/i);
}
