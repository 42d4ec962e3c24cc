/** @jsxImportSource hono/jsx */
/** The result for each uploaded file. */
import type { Taken } from "../../../shared/documents/keep_read.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Name, Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Tabs } from "../../../shared/pages/tabs.tsx";
import { booksPath, documentPath } from "../../../shared/urls.ts";
import { findWords } from "../../../shared/words/codes.ts";
import type { PageDeps } from "../page_guards.ts";
import { Alerts, Choose, ReadFacts } from "./document_facts.tsx";

export async function renderTaken(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, organization, tabs, results }: {
    user: SignedInUser;
    organization: { id: string; name: string };
    tabs: Tabs | undefined;
    results: readonly Taken[];
  },
): Promise<Response> {
  const reader = c.get("reader");
  const { documents: words } = reader.words;
  const token = await createFormToken(config, { userId: user.id, at: clock() });
  const kept = results.filter((one) => "document" in one).length;
  return await renderPage(c, {
    title: words.takenTitle(kept),
    config,
    user,
    tabs,
    status: kept > 0 ? 200 : 400,
    children: (
      <>
        <h1>{words.takenTitle(kept)}</h1>
        <p class="lead">{words.takenLead(<Name>{organization.name}</Name>)}</p>
        {results.map((one) => (
          <section>
            <h2>
              <Name>{one.name}</Name>
            </h2>
            {"refusal" in one
              ? (
                <Notice kind="failure">
                  <p>{findWords(words.refusals, one.refusal.code, () => words.unreadable)(one.refusal.params ?? {})}</p>
                </Notice>
              )
              : (
                <>
                  <Alerts document={one.document} reader={reader} />
                  <ReadFacts document={one.document} reader={reader} />
                  {one.document.state === "question" && (
                    <Choose document={one.document} reader={reader} token={token} />
                  )}
                  <p class="after-rows">
                    <a href={documentPath(one.document.id)}>{words.open}</a>
                  </p>
                </>
              )}
          </section>
        ))}
        <p>
          <a href={c.req.path}>{words.more}</a>
          {" · "}
          <a href={booksPath(organization.id)}>{words.toBooks}</a>
        </p>
      </>
    ),
  });
}
