/** Contents of a PDF besides its pages: e-invoices, and scripts and programs, which lead to a refusal. */
import { decodeFile } from "../../import/decode_file.ts";
import { PdfRefused } from "./budget.ts";
import { isStream, type PdfFile } from "./file.ts";
import { isDict, Name, type Value } from "./values.ts";

/** Keys and names of contents that a viewer would run. */
const ACTIVE = new Set(["JavaScript", "JS", "Launch", "RichMedia", "Movie", "3D"]);
const PROGRAM_NAME =
  /\.(?:exe|com|scr|pif|bat|cmd|ps1|vbs?|vbe|jse?|wsf|hta|msi|jar|lnk|reg|dll|sh|app|dmg|iso|xlsm|docm|pptm)\s*$/i;
/** Windows, Linux and macOS programs, and scripts. */
const PROGRAM_START = /^(?:MZ|\x7fELF|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe|#!)/;

export interface Attachment {
  name: string;
  text: string;
}

const MOST_ATTACHMENTS = 20;

/**
 * The XML attachments; ignores others, such as timesheets.
 * @throws {PdfRefused} when the file has a script or a program
 */
export function readAttachments(file: PdfFile): Attachment[] {
  const found = new Map<unknown, Attachment | undefined>();
  for (const object of file.objects.values()) {
    walk(file, isStream(object) ? object.dict : object, found);
  }
  return [...found.values()].flatMap((one) => one ?? []);
}

function walk(file: PdfFile, value: Value, found: Map<unknown, Attachment | undefined>): void {
  file.budget.spend();
  if (value instanceof Name) {
    if (ACTIVE.has(value.name)) throw new PdfRefused("active");
  } else if (Array.isArray(value)) {
    for (const one of value) walk(file, one, found);
  } else if (isDict(value)) {
    for (const [key, one] of value) {
      if (key === "JS" || key === "JavaScript") throw new PdfRefused("active");
      walk(file, one, found);
    }
    if (value.has("EF")) takeFile(file, value, found);
  }
}

function takeFile(file: PdfFile, spec: Map<string, Value>, found: Map<unknown, Attachment | undefined>): void {
  const name = [spec.get("UF"), spec.get("F")].map((one) => textOf(file.get(one))).find(Boolean) ?? "";
  const files = file.dictIn(spec.get("EF"));
  for (const key of ["UF", "F"]) {
    const stream = file.resolve(files.get(key));
    if (!isStream(stream) || found.has(stream)) continue;
    if (found.size === MOST_ATTACHMENTS) throw new PdfRefused("complex");
    found.set(stream, undefined);
    if (PROGRAM_NAME.test(name)) throw new PdfRefused("active");
    const bytes = file.bytesOf(stream);
    if (!bytes) continue;
    if (PROGRAM_START.test(String.fromCharCode(...bytes.subarray(0, 4)))) throw new PdfRefused("active");
    const { text } = decodeFile(bytes);
    if (text.trimStart().startsWith("<")) found.set(stream, { name, text });
  }
}

/** A text string (ISO 32000-1, 7.9.2.2): UTF-16 with a byte-order mark, or an encoding close to Latin-1. */
function textOf(value: Value): string {
  if (typeof value !== "string") return "";
  if (!value.startsWith("\xfe\xff")) return value;
  return new TextDecoder("utf-16be").decode(Uint8Array.from(value, (letter) => letter.charCodeAt(0)));
}
