/** @jsxImportSource hono/jsx */
/** One change: its effects, before and after, and the Undo button. */
import type { Activity, ActivityPage } from "../../../shared/db/activity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Name, Notice } from "../../../shared/pages/components.tsx";
import { EffectList } from "../../../shared/pages/effects.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { activityPath } from "../../../shared/urls.ts";
import { tellEffects } from "../../../shared/words/effects.ts";
import type { Subject } from "../../../shared/words/facts.ts";
import type { PageDeps } from "../page_guards.ts";
import { Byline, summaryOf } from "./change_text.tsx";
import { changePath } from "./change_path.ts";
import { canUndo, UndoForm } from "./undo_form.tsx";

/** Why the tool refused the undo: its error code and the obstacles. */
export interface Refused {
  code: string;
  rows?: { subject: Subject }[] | undefined;
}

interface ChangeView {
  user: SignedInUser;
  page: ActivityPage;
  change: Activity;
  news: { done?: string | undefined } | { refused: Refused };
}

export async function renderChange(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, page, change, news }: ChangeView,
): Promise<Response> {
  const reader = livingIn(c, page.country);
  const { words: { activity: words }, catalog, format } = reader;
  const at = clock();
  const token = await createFormToken(config, { userId: user.id, at });
  const refused = "refused" in news ? news.refused : undefined;
  const other = change.undone_by ?? change.undoes;
  return await renderPage(c, {
    title: words.changeTitle,
    config,
    user,
    tabs: tabsOf(page.organization.id, page.state, "activity"),
    ...(refused && { status: 409 as const }),
    children: (
      <>
        {"done" in news && news.done === "undone" && (
          <Notice kind="done">
            <p>{words.done}</p>
          </Notice>
        )}
        {refused && (
          <Notice kind="failure">
            <p>
              {Object.hasOwn(words.refused, refused.code)
                ? words.refused[refused.code as keyof typeof words.refused]
                : words.refused.other}
            </p>
            {refused.rows && (
              <ul>
                {refused.rows.slice(0, 10).map(({ subject }) => (
                  <li>
                    <Name>{catalog.subject(subject, format)}</Name>
                  </li>
                ))}
              </ul>
            )}
          </Notice>
        )}
        <StateNotice id={page.organization.id} state={page.state} reader={reader} />
        <h1>
          <Name>{summaryOf(change, reader)}</Name>
        </h1>
        <Byline {...{ change, page, reader }} />
        {other && (
          <p>
            <a href={changePath(page.organization.id, other)}>{words[change.undone_by ? "seeUndo" : "seeUndone"]}</a>
          </p>
        )}
        <section>
          <h2>{words.what}</h2>
          {change.effects && change.effects.length > 0
            ? <EffectList {...tellEffects(change, catalog, format)} said={catalog.effects} format={format} />
            : <p>{change.is_emptied ? words.gone : words.nothing}</p>}
        </section>
        {canUndo(change, page, at) && (
          <section>
            <h2>{words[change.undoes === null ? "undoIt" : "redoIt"]}</h2>
            <p>{words[change.undoes === null ? "undoRules" : "redoRules"]}</p>
            <UndoForm {...{ change, page, token, reader }} />
          </section>
        )}
        <p class="back">
          <a href={activityPath(page.organization.id)}>{words.all}</a>
        </p>
      </>
    ),
  });
}
