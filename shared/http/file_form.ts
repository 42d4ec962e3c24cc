/** Reads a form with one file in it (multipart/form-data, RFC 7578), and no more of it than is allowed. */
import { cleanLine } from "../clean_text.ts";
import { AppError, toAppError } from "../errors.ts";
import type { AppContext } from "./app.ts";
import { readBody } from "./read_body.ts";

/** Room for the other fields and for what separates them. */
const OVERHEAD_BYTES = 64 * 1024;
const MAX_NAME = 120;

export interface FileForm {
  fields: ReadonlyMap<string, string>;
  /** The first file that was chosen; absent when none was. */
  file?: { name: string; bytes: Uint8Array };
}

const typeOf = (c: AppContext) => c.req.header("content-type") ?? "";

export const isFileForm = (c: AppContext): boolean => /^multipart\/form-data\b/i.test(typeOf(c));

/**
 * Call it once it is known that whoever sends the form may: this reads up to `maxBytes`. The declared length only
 * refuses earlier; bytes are counted.
 * @throws {AppError} `payload_too_large`, `invalid_request` when the body breaks off.
 */
export async function readFileForm(c: AppContext, { maxBytes }: { maxBytes: number }): Promise<FileForm> {
  const most = maxBytes + OVERHEAD_BYTES;
  if (Number(c.req.header("content-length") ?? 0) > most) throw tooLarge();
  const body = await readBody(c, most).catch((thrown) => {
    const error = toAppError(thrown);
    if (error.code === "payload_too_large") throw tooLarge();
    throw error.code === "invalid_request" ? broken(thrown) : error;
  });
  if (!isWhole(body, typeOf(c))) throw broken("no end");
  const form = await new Response(body, { headers: { "content-type": typeOf(c) } }).formData().catch((thrown) => {
    throw broken(thrown);
  });
  const fields = new Map<string, string>();
  let file: File | undefined;
  for (const [name, value] of form) {
    if (typeof value === "string") {
      if (!fields.has(name)) fields.set(name, cleanLine(value));
      // Without a choice browsers send a file that has neither name nor content.
    } else if (!file && (value.name || value.size > 0)) file = value;
  }
  if (!file) return { fields };
  if (file.size > maxBytes) throw tooLarge();
  return { fields, file: { name: plainName(file.name), bytes: new Uint8Array(await file.arrayBuffer()) } };
}

/** Whether the closing delimiter is there: the platform's parser passes over a part that has none, without a word. */
function isWhole(body: ArrayBuffer, type: string): boolean {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type);
  const end = `--${boundary?.[1] ?? boundary?.[2]}--`;
  const tail = new Uint8Array(body, Math.max(0, body.byteLength - end.length - 4));
  return boundary !== null && new TextDecoder().decode(tail).includes(end);
}

const tooLarge = () =>
  new AppError("payload_too_large", "the file is too large", { says: ({ fileTooLarge }) => fileTooLarge });

const broken = (cause: unknown) =>
  new AppError("invalid_request", "a broken form", { cause, says: ({ fileBroken }) => fileBroken });

/** Some browsers send a path; the end of a long name, which says the kind, is kept. */
function plainName(name: string): string {
  const letters = [...cleanLine(name).split(/[/\\]/).at(-1)!];
  return letters.length <= MAX_NAME ? letters.join("") : `…${letters.slice(1 - MAX_NAME).join("")}`;
}
