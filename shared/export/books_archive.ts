/**
 * Everything in an organization's books as members of a ZIP archive. The export reads each kind of record twice, for
 * JSON Lines and for CSV, so that neither has to wait in memory for the other.
 */
import { Buffer } from "node:buffer";
import * as z from "zod/mini";
import { BOOKS, type Columns, FILES, type Part, PARTS } from "./books.ts";
import { bookSchema } from "./book_schema.ts";
import { writeCsv } from "./csv.ts";
import type { ZipMember } from "./zip_stream.ts";

export const BookPage = z.object({
  rows: z.custom<Record<string, unknown>[]>(Array.isArray),
  /** The key for the next page; null on the last page. */
  next: z.unknown(),
  /** The id of the latest change that the reader may see; null without any. */
  latest_change: z.nullable(z.string()),
});
export type BookPage = z.infer<typeof BookPage>;

export interface Archive {
  /** @throws if the person has lost the right to read the books. */
  readPage(part: Part | typeof FILES, after: unknown): Promise<BookPage>;
  clock(): Date;
  organization: string;
  words: {
    files: Readonly<Record<Part, string>>;
    readme(facts: { organization: string; madeAt: string; files: readonly { name: string; about: string }[] }): string;
  };
}

export async function* booksArchive(archive: Archive): AsyncGenerator<ZipMember, void, undefined> {
  const { clock, organization, words } = archive;
  const madeAt = clock().toISOString();
  const files = PARTS.map((name) => ({ name, about: words.files[name] }));
  yield { name: "README.txt", parts: [words.readme({ organization, madeAt, files })] };
  yield { name: "schema.json", parts: [`${JSON.stringify(bookSchema(words.files), null, 2)}\n`] };
  const seen = new Set<string | null>();
  const rows: Record<string, number> = {};
  const pagesOf = async function* (file: string, part: Part) {
    rows[file] = 0;
    let after: unknown = null;
    do {
      const page = await archive.readPage(part, after);
      seen.add(page.latest_change);
      rows[file] += page.rows.length;
      yield page.rows;
      after = page.next;
    } while (after !== null);
  };
  for (const part of PARTS) {
    const columns: Columns = BOOKS[part];
    const [lines, csv] = [`${part}.jsonl`, `${part}.csv`];
    yield { name: lines, parts: mapped(pagesOf(lines, part), (page) => writeLines(columns, page)) };
    yield { name: csv, parts: csvParts(columns, pagesOf(csv, part)) };
  }
  let after: unknown = null;
  do {
    const { rows: [file], next } = await archive.readPage(FILES, after);
    if (file) {
      // File names may repeat, and may contain characters that other systems refuse.
      const name = `documents/${file.id}-${String(file.name).replace(/[^\w.-]+/g, "_")}`;
      yield { name, parts: [Buffer.from(String(file.content), "base64")] };
    }
    after = next;
  } while (after !== null);
  const manifest = {
    ...{ organization, started_at: madeAt, finished_at: clock().toISOString() },
    // If the latest change differs, somebody wrote during the export.
    changed_meanwhile: seen.size > 1,
    rows,
  };
  yield { name: "manifest.json", parts: [`${JSON.stringify(manifest, null, 2)}\n`] };
}

async function* mapped<From, To>(from: AsyncIterable<From>, to: (one: From) => To): AsyncGenerator<To> {
  for await (const one of from) yield to(one);
}

const writeLines = (columns: Columns, rows: BookPage["rows"]): string =>
  rows.map((row) =>
    `${JSON.stringify(Object.fromEntries(namesOf(columns).map((name) => [name, row[name] ?? null])))}\n`
  )
    .join("");

async function* csvParts(columns: Columns, pages: AsyncIterable<BookPage["rows"]>): AsyncGenerator<string> {
  let hasHeader = true;
  for await (const rows of pages) {
    yield writeCsv(namesOf(columns), rows.map(toCells), hasHeader);
    hasHeader = false;
  }
}

const namesOf = (columns: Columns): string[] => Object.keys(columns);

const toCells = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join("; ") : typeof value === "object" && value ? JSON.stringify(value) : value,
    ]),
  );
