/**
 * Serves the file of expenses behind a link from `list_expenses`. The person whom the link names must be signed in.
 * Each part of the file checks membership, plan and suspension again.
 */
import type { ExpenseFilePart } from "../../../shared/db/identity_store.ts";
import { AppError } from "../../../shared/errors.ts";
import { type Download, readDownload } from "../../../shared/export/download_token.ts";
import { writeExpenses } from "../../../shared/export/expense_file.ts";
import { type Handler, type PageDeps, signedIn } from "../page_guards.ts";

export const getExpenseFile = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const at = deps.clock();
    const download = await readDownload(deps.config.codeSecrets, { token: c.req.query("t") ?? "", at });
    if (download?.userId !== user.id) {
      throw new AppError("forbidden", "not their link, or too late", { says: ({ fileLinkOver }) => fileLinkOver });
    }
    // Checked before the first byte, because a refusal must be a page.
    const first = await readPart(deps, { ...download, at });
    const { uncategorized } = c.get("reader").words.fileLabels;
    return c.body(stream(deps, { ...download, at }, { first, uncategorized }), 200, {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="expenses.csv"',
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

type Asked = Download & { at: Date };

/** @throws {AppError} `forbidden` when the person may no longer read it. */
async function readPart(deps: PageDeps, asked: Asked & { cursor?: string }): Promise<ExpenseFilePart> {
  const answer = await deps.store.readExpenseFile(asked);
  if (answer.outcome === "ok" && answer.result.ok) return answer.result;
  throw new AppError("forbidden", `the file is refused: ${answer.outcome}`, {
    says: ({ fileRefused }) => fileRefused,
  });
}

function stream(
  deps: PageDeps,
  asked: Asked,
  { first, uncategorized }: { first: ExpenseFilePart; uncategorized: string },
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder();
  let part = first;
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(utf8.encode(writeExpenses(part.data.csv, { uncategorized, hasHeader: part === first })));
      if (!part.next_cursor) return controller.close();
      part = await readPart(deps, { ...asked, at: deps.clock(), cursor: part.next_cursor });
    },
  }, { highWaterMark: 0 });
}
