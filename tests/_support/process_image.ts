/**
 * The whole state of a PGlite between two statements: the memory of its WebAssembly instance and its files. Restoring
 * an image takes a twentieth of the time for starting PGlite and loading a data folder.
 */
import type { PGlite } from "@electric-sql/pglite";

/** The part of Emscripten's in-memory file system that an image needs. */
interface Node {
  name: string;
  parent: Node;
  name_next?: Node;
  mode: number;
  usedBytes?: number;
  contents?: Uint8Array | Record<string, Node> | null;
  stream_ops: { write(stream: { node: Node }, ...more: unknown[]): number };
}
interface Stream {
  /** Null once it is closed. */
  fd: number | null;
  position: number;
}
interface Files {
  root: Node;
  nameTable: (Node | undefined)[];
  streams: (Stream | null | undefined)[];
  isDir(mode: number): boolean;
  lookupPath(path: string): { node: Node };
}

export interface ProcessImage {
  /** Blocks by number: the nonzero ones, or in later images the changed ones. */
  memory: Map<number, Uint8Array>;
  nodes: { node: Node; state: Pick<Node, "name" | "parent" | "name_next" | "mode" | "usedBytes" | "contents"> }[];
  names: (Node | undefined)[];
  streams: { stream: Stream; fd: number; position: number }[];
}

export interface Imaged {
  first: ProcessImage;
  save(): ProcessImage;
  restore(image: ProcessImage): void;
  memoryBytes(): number;
}

const BLOCK = 64 * 1024;

/** Takes the first image. */
export function imaged(pglite: PGlite): Imaged {
  const { FS } = pglite.Module as unknown as { FS: Files };
  const heap = () => pglite.Module.HEAPU8 as Uint8Array;
  const first: ProcessImage = { memory: new Map(), ...filesOf(FS) };
  const isOfFirst = copyingOnWrite(FS);
  for (const { state: { contents } } of first.nodes) if (contents instanceof Uint8Array) isOfFirst.add(contents);
  const changedBlocks = () => {
    const bytes = heap();
    const changed = new Map<number, Uint8Array>();
    for (let block = 0; block * BLOCK < bytes.length; block++) {
      const now = bytes.subarray(block * BLOCK, (block + 1) * BLOCK);
      if (!isSame(now, first.memory.get(block))) changed.set(block, now.slice());
    }
    return changed;
  };
  first.memory = changedBlocks();
  return {
    first,
    memoryBytes: () => heap().length,
    save: () => ({ memory: changedBlocks(), ...filesOf(FS) }),
    restore(image) {
      const bytes = heap();
      for (let block = 0; block * BLOCK < bytes.length; block++) {
        const kept = image.memory.get(block) ?? first.memory.get(block);
        if (kept) bytes.set(kept, block * BLOCK);
        else bytes.fill(0, block * BLOCK, (block + 1) * BLOCK);
      }
      restoreFiles(FS, image);
    },
  };
}

/** @param first undefined where all is zero. */
function isSame(now: Uint8Array, first: Uint8Array | undefined): boolean {
  const words = new Int32Array(now.buffer, now.byteOffset, now.length >> 2);
  if (!first) return words.every((word) => word === 0);
  const others = new Int32Array(first.buffer, first.byteOffset, words.length);
  for (let at = 0; at < words.length; at++) if (words[at] !== others[at]) return false;
  return true;
}

function filesOf(FS: Files): Omit<ProcessImage, "memory"> {
  const nodes = [FS.root];
  for (const head of FS.nameTable) for (let node = head; node; node = node.name_next) nodes.push(node);
  return {
    nodes: nodes.map((node) => {
      const { name, parent, name_next, mode, usedBytes, contents } = node;
      const isFolder = FS.isDir(mode) && contents;
      return {
        node,
        state: { name, parent, name_next, mode, usedBytes, contents: isFolder ? { ...contents } as never : contents },
      };
    }),
    names: [...FS.nameTable],
    streams: FS.streams.flatMap((stream, fd) => stream ? [{ stream, fd, position: stream.position }] : []),
  };
}

function restoreFiles(FS: Files, image: ProcessImage): void {
  for (const { node, state } of image.nodes) {
    const isFolder = FS.isDir(state.mode) && state.contents;
    Object.assign(node, state, isFolder && { contents: { ...state.contents } });
  }
  image.names.forEach((node, at) => FS.nameTable[at] = node);
  FS.streams.length = 0;
  for (const { stream, ...state } of image.streams) FS.streams[state.fd] = Object.assign(stream, state);
}

/**
 * Writes modify files in place, so contents of the first image are copied before a write. @returns the protected
 * contents.
 */
function copyingOnWrite(FS: Files): WeakSet<Uint8Array> {
  const kept = new WeakSet<Uint8Array>();
  const operations = FS.lookupPath("/pglite/data/PG_VERSION").node.stream_ops;
  const { write } = operations;
  operations.write = (stream, ...more) => {
    const { node } = stream;
    if (node.contents instanceof Uint8Array && kept.has(node.contents)) node.contents = node.contents.slice();
    return write(stream, ...more);
  };
  return kept;
}
