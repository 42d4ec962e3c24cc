/** Reads a ZIP archive by its directory and checks each entry, independently of the package that writes it. */
import { crc32, inflateRawSync } from "node:zlib";

/** The text of each file, in the order of the directory. @throws when any part is invalid. */
export function unzip(bytes: Uint8Array): Map<string, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The end record is the last 22 bytes, because the archive has no comment.
  const end = bytes.length - 22;
  if (bytes.length < 22 || view.getUint32(end, true) !== 0x06054b50) throw new Error("the archive has no end");
  const utf8 = new TextDecoder("utf-8", { fatal: true });
  const files = new Map<string, string>();
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (view.getUint32(at, true) !== 0x02014b50) throw new Error(`no entry at ${at}`);
    const [sum, packed, size] = [16, 20, 24].map((offset) => view.getUint32(at + offset, true)) as [
      number,
      number,
      number,
    ];
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true)) as [
      number,
      number,
      number,
    ];
    const name = utf8.decode(bytes.subarray(at + 46, at + 46 + nameLength));
    const local = view.getUint32(at + 42, true);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const text = inflateRawSync(bytes.subarray(start, start + packed));
    if (text.length !== size || crc32(text) !== sum) throw new Error(`${name} is broken`);
    if (files.has(name)) throw new Error(`${name} is there twice`);
    files.set(name, (name.includes("EXTF_") ? new TextDecoder("windows-1252") : utf8).decode(text));
    at += 46 + nameLength + extra + comment;
  }
  if (at !== end) throw new Error("the directory does not end where the archive does");
  return files;
}

/** The rows of a CSV by RFC 4180, including the header. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    const row = rows.at(-1) && rows.at(-1)!.at(-1) !== "\r\n" ? rows.at(-1)! : rows[rows.push([]) - 1]!;
    row.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end === "\r\n") row.push(end);
  }
  return rows.map((row) => row.slice(0, -1));
}
