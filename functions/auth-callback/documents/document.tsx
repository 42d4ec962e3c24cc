/** @jsxImportSource hono/jsx */
/** The page of one document, its questions and its file. */
import { Buffer } from "node:buffer";
import * as z from "zod/mini";
import { ShownDocument } from "../../../shared/documents/shown.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { isDay } from "../../../shared/iso_day.ts";
import { DateText, Name, Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { booksPath, documentPath, proposalPath } from "../../../shared/urls.ts";
import { booksBusy } from "../approvals/policy.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { noPage } from "../page_params.ts";
import { Alerts, Choose, FACTS, Missing, ReadFacts } from "./document_facts.tsx";

const ID = /^doc_[0-9a-z]{8,32}$/;
const TARGET = /^(?:none|(?:exp|bill)_[0-9a-z]{8,32})$/;
/** Allows the characters that people use; none of them can end a header or a quoted text. */
const UNSAFE = /[^\w .()+-]/g;

const File = z.object({ name: z.string(), type: z.string(), content: z.string() });

export const showDocument = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, clock } = deps;
    const { document, organization, state } = await find(c, deps, user);
    const reader = c.get("reader");
    const { documents: words } = reader.words;
    const token = await createFormToken(config, { userId: user.id, at: clock() });
    return await renderPage(c, {
      title: words.title,
      config,
      user,
      tabs: tabsOf(organization.id, state, "books"),
      children: (
        <>
          {c.req.query("news") === "refused" && (
            <Notice kind="failure">
              <p>{words.refused}</p>
            </Notice>
          )}
          <h1>
            <Name>{document.name}</Name>
          </h1>
          <p class="lead">
            {words.addedOn(
              <DateText at={document.added_on} format={reader.format} />,
              document.added_by && <Name>{document.added_by}</Name>,
            )}
          </p>
          <Alerts document={document} reader={reader} />
          <ReadFacts document={document} reader={reader} />
          <Missing document={document} reader={reader} token={token} />
          <Choose document={document} reader={reader} token={token} />
          <p class="back">
            <a href={`${documentPath(document.id)}/file`}>{words.download}</a>
            {" · "}
            <a href={booksPath(organization.id)}>{words.toBooks}</a>
          </p>
        </>
      ),
    });
  });

/**
 * Field `to`: a record, followed by a colon and its due date, or `none`. Without it, the values of missing facts; the
 * database accepts only values that the document contains.
 */
export const postDocument = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const said = Object.fromEntries(FACTS.flatMap((field) => {
      const value = form.get(field);
      return value ? [[field, value]] : [];
    }));
    const [to = "", dueOn] = (form.get("to") ?? "").split(":");
    const isAnswer = !form.has("to") && FACTS.some((field) => form.has(field));
    if (!isAnswer && (!TARGET.test(to) || dueOn !== undefined && !isDay(dueOn))) {
      throw new AppError("invalid_request", "unknown target", { says: ({ unknownChange }) => unknownChange });
    }
    const { document, organization } = await find(c, deps, user);
    const path = documentPath(document.id);
    const answer = await deps.documents.attach({
      userId: user.id,
      organizationId: organization.id,
      arguments: { document_id: document.id, ...(isAnswer ? { said } : { to, ...(dueOn && { due_on: dueOn }) }) },
      at: deps.clock(),
    });
    if (answer.outcome !== "ok") return c.redirect(`${path}?news=refused`, 303);
    const { ok, error } = answer.result;
    if (ok) return c.redirect(path, 303);
    if (error!.code === "busy") throw booksBusy();
    const proposal = error!.code === "awaiting_approval" ? error!.params?.details?.proposal_id : undefined;
    return c.redirect(proposal ? proposalPath(proposal) : `${path}?news=refused`, 303);
  });

/**
 * Always a download, because an untrusted file must not appear inside our pages; the browser must not guess its type.
 */
export const getDocumentFile = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const answer = await deps.documents.open({ userId: user.id, documentId: idOf(c), at: deps.clock() }, true);
    if (answer.outcome !== "ok" || !answer.result.ok) throw noPage();
    const { name, type, content } = File.parse(answer.result.data?.file);
    return c.body(Buffer.from(content, "base64"), 200, {
      "content-type": type,
      "content-disposition": `attachment; filename="${name.replace(UNSAFE, "_")}"; filename*=UTF-8''${
        encodeURIComponent(name).replaceAll("'", "%27")
      }`,
      "content-security-policy": "sandbox; default-src 'none'",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
  });

function idOf(c: AppContext): string {
  const id = c.req.param("id") ?? "";
  if (!ID.test(id)) throw noPage();
  return id;
}

/** @throws {AppError} `not_found` unless the person may see it. */
async function find(c: AppContext, deps: PageDeps, user: SignedInUser) {
  const answer = await deps.documents.open({ userId: user.id, documentId: idOf(c), at: deps.clock() });
  const [found] = answer.outcome === "ok" && answer.result.ok ? answer.result.data?.documents as unknown[] : [];
  if (answer.outcome !== "ok" || !found) throw noPage();
  const organization = answer.result.context!.organization!;
  return { document: ShownDocument.parse(found), organization, state: answer.state };
}
