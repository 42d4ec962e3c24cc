/** Unpacks a ZIP archive's text files up to the limit, whatever sizes the archive claims. */
import { Unzip, type UnzipFile, UnzipInflate } from "fflate";

export interface Unpacked {
  files: Map<string, string>;
  /** The names of all files in the part that was read, unpacked or not, in lower case. */
  names: string[];
  problem?: "broken" | "too_large";
}

interface Limits {
  /** Whether to unpack a file of that name. */
  isWanted(name: string): boolean;
  mostFiles: number;
  /** The limit for all unpacked files together. */
  mostBytes: number;
}

/** The number of input bytes unpacked at once; they grow at most about a thousandfold. */
const STEP = 8192;

export function unpack(bytes: Uint8Array, { isWanted, mostFiles, mostBytes }: Limits): Unpacked {
  const unpacked: Unpacked = { files: new Map(), names: [] };
  let size = 0;
  const take = (file: UnzipFile) => {
    const { originalSize = 0 } = file;
    const name = file.name.replaceAll("\\", "/").toLowerCase();
    if (unpacked.names.push(name) > mostFiles) unpacked.problem ??= "too_large";
    if (unpacked.problem || !isWanted(name) || unpacked.files.has(name)) return;
    if (originalSize > mostBytes) return void (unpacked.problem = "too_large");
    const decoder = new TextDecoder();
    const parts: string[] = [];
    file.ondata = (error, data, isLast) => {
      size += data?.length ?? 0;
      if (error) unpacked.problem ??= "broken";
      else if (size > mostBytes) unpacked.problem ??= "too_large";
      if (unpacked.problem) return;
      parts.push(decoder.decode(data, { stream: !isLast }));
      if (isLast) unpacked.files.set(name, parts.join(""));
    };
    file.start();
  };
  try {
    const archive = new Unzip(take);
    archive.register(UnzipInflate);
    for (let at = 0; at < bytes.length && !unpacked.problem; at += STEP) {
      archive.push(bytes.subarray(at, at + STEP), at + STEP >= bytes.length);
    }
  } catch {
    unpacked.problem ??= "broken";
  }
  if (!hasEnd(bytes)) unpacked.problem ??= "broken";
  return unpacked;
}

/** A comment may follow the last record of an archive. */
const MAX_END = 65_557;

/** Whether an archive is complete. A truncated archive could lack files unnoticed. */
function hasEnd(bytes: Uint8Array): boolean {
  const last = bytes.subarray(-MAX_END);
  for (let at = last.lastIndexOf(0x06); at >= 3; at = last.lastIndexOf(0x06, at - 1)) {
    if (last[at - 1] === 0x05 && last[at - 2] === 0x4b && last[at - 3] === 0x50) return true;
  }
  return false;
}
