/** The books at a glance. The page can only pay a due date, undo that payment and upload documents. */
import { cleanLine } from "../../../shared/clean_text.ts";
import type { FactEnvelope } from "../../../shared/connector/result.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { isDay } from "../../../shared/iso_day.ts";
import { booksPath, importPath, proposalPath } from "../../../shared/urls.ts";
import { booksBusy } from "../approvals/policy.ts";
import { isUuid, noPage } from "../page_params.ts";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { renderBooks, renderNoBooks } from "./books_page.tsx";
import { type News, newsOf } from "./news.ts";

const ORGANIZATION = /^org_[0-9a-z]{1,32}$/;
const CHANGE = /^chg_[0-9a-z]{1,32}$/;
const BILL = /^bill_[0-9a-z]{1,32}$/;
const AMOUNT = /^\d{1,12}(?:\.\d{1,4})?$/;

export const showBooks = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { books, clock } = deps;
    const organizationId = c.req.query("organization") || undefined;
    if (organizationId !== undefined && !ORGANIZATION.test(organizationId)) throw noPage();
    const month = `${c.req.query("month") ?? ""}-01`;
    const query = cleanLine(c.req.query("q") ?? "").slice(0, 100) || undefined;
    const cursor = c.req.query("cursor") || undefined;
    const found = await books.read({
      userId: user.id,
      organizationId,
      month: isDay(month) && month >= "1900" ? month : undefined,
      query,
      cursor,
      paid: [c.req.query("paid")].find((id) => id && CHANGE.test(id)),
      at: clock(),
    });
    if (found.outcome === "unknown") {
      if (organizationId === undefined) return await renderNoBooks(c, deps, user);
      throw noPage();
    }
    // The cursor is from an earlier version, or forged.
    if (!found.expenses.ok) return c.redirect(booksPath(found.organization.id), 303);
    return await renderBooks(c, deps, { user, glance: found, query, cursor, news: newsOf(c.req.query("news")) });
  });

/** Field `action`: `pay` a due date, `undo` that payment, or `upload` documents. */
export const postBooks = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const organizationId = form.get("organization") ?? "";
    if (!ORGANIZATION.test(organizationId)) throw unknownChange();
    const asked = { userId: user.id, organizationId };
    switch (form.get("action")) {
      case "pay":
        return await pay(c, deps, { ...asked, form });
      case "undo":
        return await undo(c, deps, { ...asked, form });
      case "upload":
        return await upload(c, deps, asked);
      default:
        throw unknownChange();
    }
  });

interface Pressed {
  userId: string;
  organizationId: string;
  form: Form;
}

async function pay(c: AppContext, { books, clock }: PageDeps, { form, ...asked }: Pressed): Promise<Response> {
  const billId = form.get("bill") ?? "";
  const dueOn = form.get("due_on") ?? "";
  const key = form.get("key") ?? "";
  const shown = form.get("shown") || null;
  if (!BILL.test(billId) || !isDay(dueOn) || !isUuid(key) || (shown && !AMOUNT.test(shown))) {
    throw unknownChange();
  }
  // People type unknown and estimated amounts, possibly with a decimal comma.
  const field = form.get("amount") ?? (shown ? undefined : "");
  const typed = field === undefined ? null : field.trim().replace(/^(\d+),(\d{1,2})$/, "$1.$2");
  if (typed !== null && !AMOUNT.test(typed)) return say(c, asked, "amount");
  const answer = await books.pay({ ...asked, billId, dueOn, shown, amount: typed, key, at: clock() });
  switch (answer.outcome) {
    case "unknown":
      throw noPage();
    case "busy":
      throw booksBusy();
    case "ok":
      if (answer.result.ok) {
        return c.redirect(`${booksPath(asked.organizationId)}&paid=${changeOf(answer.result)}`, 303);
      }
      return refuse(c, asked, answer.result);
    default:
      return say(c, asked, answer.outcome);
  }
}

async function undo(c: AppContext, { books, clock }: PageDeps, { form, ...asked }: Pressed): Promise<Response> {
  const changeId = form.get("change") ?? "";
  if (!CHANGE.test(changeId)) throw unknownChange();
  const answer = await books.undo({ ...asked, changeId, at: clock() });
  if (answer.outcome === "refused") return say(c, asked, "refused");
  if (!answer.result.ok && waitsFor(answer.result) === undefined) return say(c, asked, "not_undone");
  return answer.result.ok ? say(c, asked, "undone") : refuse(c, asked, answer.result);
}

/** The page that an assistant's link opens. */
async function upload(
  c: AppContext,
  { documents, clock }: PageDeps,
  asked: { userId: string; organizationId: string },
): Promise<Response> {
  const answer = await documents.attach({ ...asked, arguments: { step: "start" }, at: clock() });
  if (answer.outcome !== "ok") return say(c, asked, "refused");
  if (!answer.result.ok) return refuse(c, asked, answer.result);
  const { import_id: id } = answer.result.data!.upload as { import_id: string };
  return c.redirect(importPath(id), 303);
}

function refuse(c: AppContext, asked: { organizationId: string }, result: FactEnvelope): Response {
  const proposal = waitsFor(result);
  if (proposal) return c.redirect(proposalPath(proposal), 303);
  const [code] = (result.error?.code ?? "").split(".");
  switch (code) {
    case "busy":
      throw booksBusy();
    case "forbidden_role":
      return say(c, asked, "role");
    case "month_closed":
      return say(c, asked, "closed");
    default:
      return say(c, asked, result.error?.field === "amount" ? "amount" : "failed");
  }
}

const waitsFor = ({ error }: FactEnvelope): string | undefined =>
  error?.code === "awaiting_approval" ? error.params?.details?.proposal_id : undefined;

const changeOf = ({ change_id: id }: FactEnvelope): string => encodeURIComponent(String(id));

const say = (c: AppContext, { organizationId }: { organizationId: string }, news: News): Response =>
  c.redirect(`${booksPath(organizationId)}&news=${news}`, 303);

const unknownChange = () =>
  new AppError("invalid_request", "unknown press", { says: ({ unknownChange }) => unknownChange });
