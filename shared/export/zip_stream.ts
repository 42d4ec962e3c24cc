/**
 * Writes a ZIP archive while the recipient reads it, with one part of one file in memory at a time. If the recipient
 * stops, the generators of the parts end.
 */
import { Zip, ZipDeflate } from "fflate";

export interface ZipMember {
  name: string;
  /** The content, in parts. */
  parts: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
}

/** @param members read in sequence while the archive is written. @param at the modification time of all files. */
export const zipStream = (
  members: Iterable<ZipMember> | AsyncIterable<ZipMember>,
  at: Date,
): ReadableStream<Uint8Array> => ReadableStream.from(zipped(members, at));

async function* zipped(
  members: Iterable<ZipMember> | AsyncIterable<ZipMember>,
  at: Date,
): AsyncGenerator<Uint8Array, void, undefined> {
  const utf8 = new TextEncoder();
  let written: Uint8Array[] = [];
  const taken = () => {
    const chunks = written;
    written = [];
    return chunks;
  };
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    written.push(chunk);
  });
  for await (const { name, parts } of members) {
    const member = Object.assign(new ZipDeflate(name), { mtime: at });
    zip.add(member);
    for await (const part of parts) {
      member.push(typeof part === "string" ? utf8.encode(part) : part);
      yield* taken();
    }
    member.push(new Uint8Array(), true);
    yield* taken();
  }
  zip.end();
  yield* taken();
}
