/** @jsxImportSource hono/jsx */
/** The list of changes with its filter, daily reads by apps, and events of accounts and grants. */
import type { ActivityFilter, ActivityPage } from "../../../shared/db/activity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Name, Row } from "../../../shared/pages/components.tsx";
import { EffectList } from "../../../shared/pages/effects.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { tellEffects } from "../../../shared/words/effects.ts";
import type { PageDeps } from "../page_guards.ts";
import { ActivityFilterForm, searchOf } from "./activity_filter.tsx";
import { Byline, type ChangeProps, summaryOf } from "./change_text.tsx";
import { changePath } from "./change_path.ts";
import { ReadCounts } from "./read_counts.tsx";
import { SecurityEvents } from "./security_events.tsx";
import { canUndo, UndoForm } from "./undo_form.tsx";

/** A larger change is undone on its own page, which shows all its effects first. */
const UNDONE_AT_ONCE = 5;

interface ActivityView {
  user: SignedInUser;
  page: ActivityPage;
  filter: ActivityFilter;
}

export async function renderActivity(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, page, filter }: ActivityView,
): Promise<Response> {
  const reader = livingIn(c, page.country);
  const { activity: words } = reader.words;
  const at = clock();
  const token = await createFormToken(config, { userId: user.id, at });
  const isFiltered = Object.keys(filter).length > 0;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(page.organization.id, page.state, "activity"),
    children: (
      <>
        <h1>{words.heading(<Name>{page.organization.name}</Name>)}</h1>
        <StateNotice id={page.organization.id} state={page.state} reader={reader} />
        <p class="lead">{words.lead} {page.may_write && words.leadUndo}</p>
        <section>
          <h2>{words.changes}</h2>
          {(isFiltered || page.changes.length > 0) && <ActivityFilterForm {...{ page, filter, reader }} />}
          {page.changes.length === 0 && (
            <p>{isFiltered ? words.noneFound : words.none} {!isFiltered && page.may_write && words.noneToWriter}</p>
          )}
          <ul class="rows">
            {page.changes.map((change) => (
              <Row
                action={canUndo(change, page, at) && (
                  (change.effects_count ?? 0) > UNDONE_AT_ONCE
                    ? <a class="button" href={changePath(page.organization.id, change.id)}>{words.undoMany}</a>
                    : <UndoForm {...{ change, page, token, reader }} />
                )}
              >
                <Change {...{ change, page, reader }} />
              </Row>
            ))}
          </ul>
          {page.next && (
            <p class="after-rows">
              <a href={`/account/activity?${searchOf(page, filter, page.next)}`}>{words.older}</a>
            </p>
          )}
        </section>
        {page.reads && !isFiltered && <ReadCounts reads={page.reads} reader={reader} />}
        {page.events && !isFiltered && <SecurityEvents events={page.events} page={page} reader={reader} />}
      </>
    ),
  });
}

function Change({ change, page, reader }: ChangeProps) {
  const { words: { activity: words }, catalog, format } = reader;
  return (
    <>
      <h3>
        <a href={changePath(page.organization.id, change.id)}>
          <Name>{summaryOf(change, reader)}</Name>
        </a>
      </h3>
      <Byline {...{ change, page, reader }} />
      {change.effects && change.effects.length > 0 && (
        <details>
          <summary>{words.details}</summary>
          <EffectList {...tellEffects(change, catalog, format)} said={catalog.effects} format={format} />
        </details>
      )}
    </>
  );
}
