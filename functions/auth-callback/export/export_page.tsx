/** @jsxImportSource hono/jsx */
/** Both exports on one page, or the reason why they are unavailable. Each is a form whose response is the file. */
import type { OpenedExport } from "../../../shared/db/export_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { type Period, PERIODS } from "../../../shared/export/period.ts";
import { Buttons, DateText, Name, Notice, SelectField, Submit, TextField } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { withoutAccount } from "../../../shared/export/datev_settings.ts";
import { datevPath } from "../../../shared/urls.ts";
import { CategoryNames } from "./category_names.tsx";
import { isUsed, listCategories } from "./datev_categories.ts";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import type { PageDeps } from "../page_guards.ts";

type OpenedOrganization = Extract<OpenedExport, { outcome: "ok" }>["organization"];

export interface Exporting {
  user: SignedInUser;
  organizationId: string;
  organization: OpenedOrganization;
}

export async function renderExport(
  c: AppContext,
  deps: PageDeps,
  { user, organizationId, organization, empty, isOpen }: Exporting & {
    /** The requested period, if it has no payments. */
    empty?: Period;
    /** Set if the requested folder includes open months. */
    isOpen?: boolean;
  },
): Promise<Response> {
  const { config, clock } = deps;
  const { words: { exportBooks: words, datev: datevWords }, format } = c.get("reader");
  const { datev } = organization;
  const missing = datev
    ? withoutAccount(datev, (await listCategories(c, deps, { user, organizationId })).filter(isUsed))
    : [];
  const formToken = await createFormToken(config, { userId: user.id, at: clock() });
  const Hidden = ({ what }: { what: "everything" | "payments" }) => (
    <>
      <input type="hidden" name="form_token" value={formToken} />
      <input type="hidden" name="what" value={what} />
    </>
  );
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(organizationId, organization.state, "export"),
    children: (
      <>
        <h1>{words.heading(<Name>{organization.name}</Name>)}</h1>
        <StateNotice
          id={organizationId}
          state={organization.state}
          reader={c.get("reader")}
        />
        {empty && (
          <Notice>
            <p>
              {words.noPayments(
                <DateText at={empty.from} format={format} />,
                <DateText at={empty.to} format={format} />,
              )}
            </p>
          </Notice>
        )}
        {isOpen && (
          <Notice kind="warning">
            <p>
              {words.notClosed(
                organization.closed_through && <DateText at={organization.closed_through} format={format} />,
              )}
            </p>
          </Notice>
        )}
        <p class="lead">{words.lead}</p>
        <section>
          <h2>{words.payments}</h2>
          <p>{words.paymentsAbout}</p>
          <form method="post" action={c.req.path} class="stack">
            <Hidden what="payments" />
            <SelectField
              name="period"
              label={words.period}
              selected="last_month"
              unchosen=""
              options={PERIODS.map((name) => ({ value: name, label: words.periods[name] }))}
            />
            <TextField name="from" type="date" label={words.from} reason={words.daysReason} />
            <TextField name="to" type="date" label={words.to} />
            <label class="choice">
              <input type="checkbox" name="open_months" value="yes" /> {words.openMonths}
            </label>
            <Buttons>
              <button class="primary" type="submit" name="as" value="folder">{words.downloadFolder}</button>
              <button type="submit">{words.downloadPayments}</button>
            </Buttons>
          </form>
        </section>
        <section>
          <h2>{words.datev}</h2>
          <p>{datev ? words.datevSet(datev.chart, datev.paid_from) : words.datevUnset}</p>
          {datev && missing.length > 0 && (
            <p>{datevWords.missing(<CategoryNames categories={missing} />, datev.clearing)}</p>
          )}
          <p>
            <a href={datevPath(organizationId)}>
              {words[organization.may_change ? datev ? "changeDatev" : "setDatev" : "showDatev"]}
            </a>
          </p>
        </section>
        <section>
          <h2>{words.everything}</h2>
          <p>{words.everythingAbout}</p>
          <p>{words.everythingHow}</p>
          <form method="post" action={c.req.path}>
            <Hidden what="everything" />
            <Submit>{words.downloadEverything}</Submit>
          </form>
        </section>
        <section class="small muted">
          <p>{words.seen}</p>
        </section>
      </>
    ),
  });
}

/** Only members learn whether an organization with that id exists. */
export function renderExportRefusal(
  c: AppContext,
  { config }: PageDeps,
  { user, refusal }: { user: SignedInUser; refusal: "refused" | "unknown" },
): Promise<Response> {
  const { exportRefusals, frame } = c.get("reader").words;
  const next = { label: frame.goToAccount, href: "/account" };
  const status = refusal === "refused" ? 403 : 404;
  return renderProblem(c, { config, user, status, problem: { ...exportRefusals[refusal], next } });
}
