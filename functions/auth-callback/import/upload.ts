/**
 * The upload page, `/account/import/<import_id>`, from a link that `import_expenses` or `attach_document` returned. It
 * accepts a bank statement or any number of documents. It checks the session, membership, plan and the import's owner
 * before it reads the file, and no model ever gets the file.
 */
import { cleanText } from "../../../shared/clean_text.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import { isFileForm, readFileForm } from "../../../shared/http/file_form.ts";
import { readForm, refuseOtherSites, requireFormToken } from "../../../shared/http/form_post.ts";
import { keepFile, type Kept, workThrough } from "../../../shared/import/import_work.ts";
import { MAX_UPLOAD_BYTES, readUpload } from "../../../shared/import/read_upload.ts";
import { type Form, type Handler, type PageDeps, signedIn } from "../page_guards.ts";
import { renderRefusal } from "./refusal_page.tsx";
import { type Found, openImport, refusalOf } from "./steps.ts";
import { renderUpload } from "./upload_page.tsx";
import { renderUploaded } from "./uploaded_page.tsx";

/** The total of all files in one form, of which memory holds several copies at once. */
export const MAX_SENT_BYTES = 25 * 1024 * 1024;
const MAX_FILES = 20;
/** Well below the timeouts of the platform and the front doors. */
export const WORK_MS = 20_000;
/** For pages that show progress themselves (field `brief`): short, but several times as long as reading a file. */
const BRIEF_MS = 5_000;

export const showUpload = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const found = await openImport(c, deps, user);
    if ("refusal" in found) return await renderRefusal(c, deps, { user, refusal: found.refusal });
    const render = found.opened.state === "waiting" ? renderUpload : renderUploaded;
    return await render(c, deps, found);
  });

/** Accepts the file, or a form without one to continue with an earlier file. */
export const postUpload = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    refuseOtherSites(c, deps.config);
    const found = await openImport(c, deps, user);
    if ("refusal" in found) return await renderRefusal(c, deps, { user, refusal: found.refusal });
    return await (isFileForm(c) ? receive(c, deps, found) : goOn(c, deps, found));
  });

async function receive(c: AppContext, deps: PageDeps, found: Found): Promise<Response> {
  const { user, opened, step } = found;
  if (opened.state !== "waiting") return await renderRefusal(c, deps, { user, refusal: "used" });
  await claimAttempt(c, deps, { attempt: "import_upload", subject: user.id });
  const { fields, files } = await readFileForm(c, {
    maxBytes: MAX_SENT_BYTES,
    maxFiles: MAX_FILES,
    maxFileBytes: MAX_UPLOAD_BYTES,
  });
  await requireFormToken(deps.config, { form: fields, userId: user.id, at: deps.clock() });
  const [file] = files;
  if (!file) return await renderUpload(c, deps, { ...found, failure: { code: "no_file" } });
  const { readDocuments, takeDocuments } = await import("../documents/take_documents.ts");
  const read = await readDocuments(files);
  // A file that is not a document is a statement, which must be the only file.
  if (files.length > 1 || read[0]!.isDocument) {
    const results = await takeDocuments(deps, { user, organizationId: found.organization.id, read });
    const { renderTaken } = await import("../documents/taken_page.tsx");
    return await renderTaken(c, deps, { ...found, results });
  }
  const upload = readUpload(file.bytes, file.name);
  if ("code" in upload) return await renderUpload(c, deps, { ...found, failure: upload });
  // As in tool calls, hidden characters must not reach the books or a model.
  const text = cleanText(upload.text);
  const kept = await keepFile(
    step,
    {
      text,
      name: file.name,
      importId: opened.import_id,
      warnings: upload.warnings,
      ...(upload.encoding && { encoding: upload.encoding }),
    },
    deps.clock,
  );
  if (!("problem" in kept)) return await work(c, deps, found, { form: fields, kept });
  const refusal = refusalOf(kept.problem);
  return refusal
    ? await renderRefusal(c, deps, { user, refusal })
    : await renderUpload(c, deps, { ...found, failure: kept.problem });
}

async function goOn(c: AppContext, deps: PageDeps, found: Found): Promise<Response> {
  const form = await readForm(c, deps.config);
  await requireFormToken(deps.config, { form, userId: found.user.id, at: deps.clock() });
  return await work(c, deps, found, { form });
}

/**
 * The page reads the outcome from the database, because a person may reload it and an assistant may continue the
 * import.
 */
async function work(
  c: AppContext,
  { clock }: PageDeps,
  { opened, step }: Found,
  { form, kept }: { form: Form; kept?: Kept },
): Promise<Response> {
  const deadline = new Date(clock().getTime() + (form.has("brief") ? BRIEF_MS : WORK_MS));
  await workThrough(step, { importId: opened.import_id, clock, deadline, kept });
  return c.redirect(c.req.path, 303);
}
