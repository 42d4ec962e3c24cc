/** @jsxImportSource hono/jsx */
/** The books page with its sections. */
import { dueDates, type Glance } from "../../../shared/books/glance.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { daysAfter } from "../../../shared/iso_day.ts";
import { Name, Notice } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { booksPath } from "../../../shared/urls.ts";
import type { PageDeps } from "../page_guards.ts";
import { BalancesSection } from "./balances_section.tsx";
import { DocumentsSection } from "./documents_section.tsx";
import { DueSection } from "./due_section.tsx";
import { ExpensesSection } from "./expenses_section.tsx";
import { MonthSection } from "./month_section.tsx";
import type { News } from "./news.ts";
import { PaidNotice } from "./paid_notice.tsx";
import { Summary } from "./summary.tsx";

/** Same as in `public.read_books`. */
const DAYS = 30;

export interface BooksView {
  user: SignedInUser;
  glance: Glance;
  query: string | undefined;
  cursor: string | undefined;
  news: News | undefined;
}

export async function renderBooks(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, glance, query, cursor, news }: BooksView,
): Promise<Response> {
  const reader = livingIn(c, glance.country);
  const { books: words } = reader.words;
  const token = await createFormToken(config, { userId: user.id, at: clock() });
  const part = { glance, me: user.email, token, reader };
  const { bills, spending, balances, documents } = glance;
  const until = daysAfter(glance.today, DAYS);
  const dates = dueDates(bills?.data.bills ?? [], until);
  const expenses = <ExpensesSection {...part} query={query} cursor={cursor} />;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(glance.organization.id, glance.state, "books"),
    isWide: spending !== null,
    children: (
      <>
        {glance.paid && <PaidNotice {...part} paid={glance.paid} />}
        {news && (
          <Notice kind={news === "undone" || news === "joined" ? "done" : "warning"}>
            <p>{words.news[news]}</p>
          </Notice>
        )}
        <h1>{words.heading(<Name>{glance.organization.name}</Name>)}</h1>
        <StateNotice id={glance.organization.id} state={glance.state} reader={reader} />
        {!bills || !spending ? expenses : (
          <>
            <Summary {...part} bills={bills} dates={dates} until={until} spending={spending} />
            <div class="two">
              <DueSection {...part} bills={bills} dates={dates} until={until} />
              <div>
                <MonthSection {...part} spending={spending} />
                {balances && <BalancesSection {...part} balances={balances} />}
                {documents && <DocumentsSection {...part} documents={documents} />}
              </div>
              {expenses}
            </div>
          </>
        )}
        {(query !== undefined || cursor !== undefined) && (
          <p class="back">
            <a href={booksPath(glance.organization.id)}>{words.all}</a>
          </p>
        )}
      </>
    ),
  });
}

/** The page for a person without an organization. */
export function renderNoBooks(c: AppContext, { config }: PageDeps, user: SignedInUser): Promise<Response> {
  const { books, frame } = c.get("reader").words;
  const next = { label: frame.goToAccount, href: "/account" };
  return renderProblem(c, { config, user, status: 404, problem: { ...books.none, next } });
}
