/**
 * The export of an organization's books, `/organizations/<id>/export`: everything as a ZIP archive, or the
 * accountant's file of a period. A signed-in person with the right to export downloads it through a form, and each
 * page of rows checks that right again. No shareable link exists. Exports work on every plan.
 */
import { accountantFolder, type Folder } from "../../../shared/export/accountant_folder.ts";
import { writeAccountantRows } from "../../../shared/export/accountant_file.ts";
import type { FILES, Part } from "../../../shared/export/books.ts";
import { type BookPage, booksArchive } from "../../../shared/export/books_archive.ts";
import { customPeriod, namedPeriod, type Period, PERIODS } from "../../../shared/export/period.ts";
import { zipStream } from "../../../shared/export/zip_stream.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { type Exporting, renderExport, renderExportRefusal } from "./export_page.tsx";

type Opened = Exporting | { refusal: "refused" | "unknown" };

export const showExport = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const opened = await openExport(c, deps, { user });
    return "refusal" in opened
      ? await renderExportRefusal(c, deps, { user, refusal: opened.refusal })
      : await renderExport(c, deps, opened);
  });

/**
 * Form field `what`: `everything` or `payments`. Payments need the days `from` and `to`, or a `period`. `as=folder`
 * selects the folder, which requires closed months unless `open_months=yes`.
 */
export const postExport = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const what = form.get("what");
    if (what !== "everything" && what !== "payments") {
      throw new AppError("invalid_request", "unknown export", { says: ({ unknownChange }) => unknownChange });
    }
    await claimAttempt(c, deps, { attempt: "export", subject: user.id });
    const opened = await openExport(c, deps, { user, ...(what === "everything" && { wanted: what }) });
    if ("refusal" in opened) return await renderExportRefusal(c, deps, { user, refusal: opened.refusal });
    return what === "everything" ? sendEverything(c, deps, opened) : await sendPayments(c, deps, opened, form);
  });

export async function openExport(
  c: AppContext,
  { exports, clock }: PageDeps,
  { user, wanted }: { user: SignedInUser; wanted?: "everything" | "payments" },
): Promise<Opened> {
  const organizationId = c.req.param("id") ?? "";
  // Malformed ids are not looked up.
  if (!/^org_[0-9a-z]{8,32}$/.test(organizationId)) return { refusal: "unknown" };
  const answer = await exports.open({ userId: user.id, organizationId, at: clock(), ...(wanted && { wanted }) });
  return answer.outcome === "ok"
    ? { user, organizationId, organization: answer.organization }
    : { refusal: answer.outcome };
}

function sendEverything(c: AppContext, deps: PageDeps, exporting: Exporting): Response {
  const { exportFiles: words } = c.get("reader").words;
  const { name, today } = exporting.organization;
  const members = booksArchive({
    readPage: (part, after) => readPage(deps, exporting, { part, after }),
    clock: deps.clock,
    organization: name,
    words,
  });
  return send(c, zipStream(members, deps.clock()), { type: "application/zip", name: `books-${today}.zip` });
}

async function sendPayments(c: AppContext, deps: PageDeps, exporting: Exporting, form: Form): Promise<Response> {
  const period = readPeriod(form, exporting.organization.today);
  const { uncategorized } = c.get("reader").words.fileLabels;
  const isFolder = form.get("as") === "folder";
  const { closed_through: closed } = exporting.organization;
  if (isFolder && form.get("open_months") !== "yes" && (!closed || closed < period.to)) {
    return await renderExport(c, deps, { ...exporting, isOpen: true });
  }
  // Checked before the first byte, because a refusal must be a page.
  const first = await readPage(deps, exporting, { part: "payments", after: null, period });
  if (first.rows.length === 0) return await renderExport(c, deps, { ...exporting, empty: period });
  // Recorded only now, because an empty period exports nothing.
  const recorded = await openExport(c, deps, { user: exporting.user, wanted: "payments" });
  if ("refusal" in recorded) {
    return await renderExportRefusal(c, deps, { user: exporting.user, refusal: recorded.refusal });
  }
  if (isFolder) {
    const members = accountantFolder({
      first,
      readPage: (part, after) => readPage(deps, exporting, { part, after, ...(part === "payments" && { period }) }),
      uncategorized,
      datev: datevOf(c, deps, exporting, period),
    });
    const name = `accountant-${period.from}-${period.to}.zip`;
    return send(c, zipStream(members, deps.clock()), { type: "application/zip", name });
  }
  const parts = async function* () {
    const utf8 = new TextEncoder();
    for (let page = first;; page = await readPage(deps, exporting, { part: "payments", after: page.next, period })) {
      yield utf8.encode(writeAccountantRows(page.rows, { uncategorized, hasHeader: page === first }));
      if (page.next === null) return;
    }
  };
  const name = `expenses-${period.from}-${period.to}.csv`;
  return send(c, ReadableStream.from(parts()), { type: "text/csv; charset=utf-8", name });
}

/** Undefined until someone sets the accounts. */
function datevOf(c: AppContext, { clock }: PageDeps, { organization }: Exporting, period: Period): Folder["datev"] {
  const { datev: settings, closed_through: closed = null, base_currency: currency = "" } = organization;
  const { datevFiles: words } = c.get("reader").words;
  return settings ? { settings, closed, currency, period, made: clock(), words } : undefined;
}

/** @throws {AppError} `forbidden` when the person may no longer read it. */
async function readPage(
  { exports, clock }: PageDeps,
  { user, organizationId }: Exporting,
  asked: { part: Part | typeof FILES; after: unknown; period?: Period },
): Promise<BookPage> {
  const answer = await exports.readPage({ userId: user.id, organizationId, at: clock(), ...asked });
  if (answer.outcome === "ok") return answer.page;
  throw new AppError("forbidden", "refused meanwhile", { says: ({ exportEnded }) => exportEnded });
}

/** @throws {AppError} `invalid_request` for invalid days, or days in the wrong order. */
function readPeriod(form: Form, today: string): Period {
  const [from, to] = [form.get("from") ?? "", form.get("to") ?? ""];
  const named = PERIODS.find((name) => name === form.get("period"));
  const period = from || to ? customPeriod(from, to) : named && namedPeriod(named, today);
  if (!period) throw new AppError("invalid_request", "no period", { says: ({ exportDays }) => exportDays });
  return period;
}

const send = (c: AppContext, body: ReadableStream<Uint8Array>, { type, name }: { type: string; name: string }) =>
  c.body(body, 200, {
    "content-type": type,
    "content-disposition": `attachment; filename="${name}"`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
