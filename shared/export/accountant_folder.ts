/**
 * The accountant's folder of a period as the members of a ZIP archive: its payments as CSV, for Beancount and hledger,
 * the documents of those payments, their index, and the bookings for DATEV.
 */
import { Buffer } from "node:buffer";
import { writeAccountantRows } from "./accountant_file.ts";
import { BEANCOUNT, HLEDGER, type Syntax } from "./plain_text_accounting.ts";
import { FILES } from "./books.ts";
import type { BookPage } from "./books_archive.ts";
import { writeCsv } from "./csv.ts";
import { type DatevExport, datevFiles } from "./datev_files.ts";
import type { ZipMember } from "./zip_stream.ts";

export interface Folder {
  /** The first page of the period's payments, and possibly the only one. */
  first: BookPage;
  /** @throws if the person may no longer read the books. */
  readPage(part: "payments" | typeof FILES, after: unknown): Promise<BookPage>;
  uncategorized: string;
  /** Absent until somebody chooses the accounts. */
  datev?: DatevExport | undefined;
}

type Payment = Record<string, unknown>;
interface Filed extends Payment {
  file: string;
}

const INDEX = ["file", "date", "payee", "name", "amount", "currency", "payment_id", "document_id"];

export async function* accountantFolder(folder: Folder): AsyncGenerator<ZipMember, void, undefined> {
  const { uncategorized } = folder;
  const documented: Payment[] = [];
  const csv = async function* () {
    for await (const page of pagesOf(folder)) {
      documented.push(...page.rows.filter(({ document_ids: ids }) => Array.isArray(ids) && ids.length > 0));
      yield writeAccountantRows(page.rows, { uncategorized, hasHeader: page === folder.first });
    }
  };
  yield { name: "payments.csv", parts: csv() };
  const ledger = async function* ({ begin, entry, open }: Syntax) {
    const accounts = new Map<string, string>();
    yield begin;
    for await (const { rows } of pagesOf(folder)) {
      yield rows.map((row) => entry(row, { uncategorized, accounts })).join("");
    }
    for (const [account, day] of accounts) yield open(account, day);
  };
  yield { name: "ledger.beancount", parts: ledger(BEANCOUNT) };
  yield { name: "hledger.journal", parts: ledger(HLEDGER) };
  const index: Filed[] = [];
  // Payments of a bill on the same day have the same documents.
  const files = new Map<string, string | undefined>();
  for (const payment of documented) {
    for (const id of payment.document_ids as string[]) {
      if (!files.has(id)) {
        const { rows: [document] } = await folder.readPage(FILES, justBefore(id));
        // Somebody removed it in the meantime, or this person may no longer see it.
        const isThere = document?.id === id;
        // File names may repeat, and may contain characters that other systems reject.
        const name = `documents/${payment.date}-${id}-${String(document?.name).replace(/[^\w.-]+/g, "_")}`;
        files.set(id, isThere ? name : undefined);
        if (isThere) yield { name, parts: [Buffer.from(String(document.content), "base64")] };
      }
      const file = files.get(id);
      if (file) index.push({ ...payment, file, payment_id: payment.id, document_id: id });
    }
  }
  yield { name: "documents.csv", parts: [writeCsv(INDEX, index)] };
  if (!folder.datev) return;
  const payments = async function* () {
    for await (const { rows } of pagesOf(folder)) yield* rows;
  };
  yield* datevFiles(payments, {
    ...folder.datev,
    uncategorized,
    fileOf: ({ document_ids: ids }) => (Array.isArray(ids) ? ids : []).map((id) => files.get(id)).find(Boolean),
  });
}

async function* pagesOf({ first, readPage }: Folder): AsyncGenerator<BookPage> {
  for (let page = first;; page = await readPage("payments", page.next)) {
    yield page;
    if (page.next === null) return;
  }
}

/** @returns a key just before the id, because ids contain only digits and small letters, which sort before a tilde. */
const justBefore = (id: string) => `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}~`;
