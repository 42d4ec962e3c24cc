/** What a file is by its first bytes, whatever its name says. */

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
