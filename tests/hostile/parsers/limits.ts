/** The maximum lengths of texts that reach a parser. */
import type { Limits, Run } from "../cost.ts";

export interface Parser extends Limits {
  name: string;
  run: Run;
  /** Runs only these shapes, by name, when all others are equivalent. */
  shapes?: readonly string[];
}

/** All headers of a request together, on the known servers. */
export const HEADER = 16_384;
/** The longest form that our functions read. */
export const FORM = 16_384;
export const CSV = 524_288;
export const UPLOAD = 10_000_000;
export const RATES = 32_768;
export const EVENT = 262_144;
/** Arguments from an AI client, and one-line responses from other servers. */
export const LINE = 65_536;

export const at = new Date("2026-10-06T09:00:00Z");
export const SITE = "https://expenses.example";
export const SECRETS = ["a secret that is long enough for this test"];
export const bytes = (text: string) => new TextEncoder().encode(text);
export const pieces = (text: string, length: number) =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, i) => text.slice(i * length, (i + 1) * length));
/** Applies the parser to every piece of a text, such as the cells of a file. */
export const each = (length: number, run: Run): Run => (text) => pieces(text, length).forEach(run);
export const headers = (name: string, text: string) => new Headers({ [name]: text.replace(/[^\t\x20-\x7e]/g, "?") });

export async function* chunks(text: string, length: number): AsyncGenerator<Uint8Array> {
  const all = bytes(text);
  for (let from = 0; from < all.length; from += length) yield all.subarray(from, from + length);
}

export const all = (runs: Record<string, Run>, limit: number, mostMs?: number): Parser[] =>
  Object.entries(runs).map(([name, run]) => ({ name, run, limit, ...(mostMs && { mostMs }) }));
