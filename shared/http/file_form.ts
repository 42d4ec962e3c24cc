/** Reads a form with files (multipart/form-data, RFC 7578), up to a limit. */
import { cleanLine } from "../clean_text.ts";
import { AppError, toAppError } from "../errors.ts";
import type { AppContext } from "./app.ts";
import { readBody } from "./read_body.ts";

/** Room for the other fields and the delimiters. */
const OVERHEAD_BYTES = 64 * 1024;
const MAX_NAME = 120;

export interface FileForm {
  fields: ReadonlyMap<string, string>;
  files: readonly SentFile[];
}

export interface SentFile {
  /** The name on the sender's computer, without its folder. */
  name: string;
  /** The media type that the browser claims. */
  type: string;
  bytes: Uint8Array;
}

const typeOf = (c: AppContext) => c.req.header("content-type") ?? "";

export const isFileForm = (c: AppContext): boolean => /^multipart\/form-data\b/i.test(typeOf(c));

/**
 * Check the sender's rights before the call, because it reads up to `maxBytes`. It counts the received bytes; the
 * declared length only permits an earlier refusal.
 * @throws {AppError} `payload_too_large`, `invalid_request` when the body breaks off.
 */
export async function readFileForm(
  c: AppContext,
  { maxBytes, maxFiles, maxFileBytes }: { maxBytes: number; maxFiles: number; maxFileBytes: number },
): Promise<FileForm> {
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
  const files: File[] = [];
  for (const [name, value] of form) {
    if (typeof value === "string") {
      if (!fields.has(name)) fields.set(name, cleanLine(value));
      // Without a chosen file, browsers send one with no name and no content.
    } else if (value.name || value.size > 0) files.push(value);
  }
  if (files.length > maxFiles || files.some(({ size }) => size > maxFileBytes)) throw tooLarge();
  return {
    fields,
    files: await Promise.all(files.map(async (file) => ({
      name: plainName(file.name),
      type: file.type,
      bytes: new Uint8Array(await file.arrayBuffer()),
    }))),
  };
}

/** Whether the closing delimiter is there, because the platform's parser silently skips a part without one. */
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

/** Drops the path that some browsers send, and keeps the end of a long name for its extension. */
function plainName(name: string): string {
  const letters = [...cleanLine(name).split(/[/\\]/).at(-1)!];
  return letters.length <= MAX_NAME ? letters.join("") : `…${letters.slice(1 - MAX_NAME).join("")}`;
}
