/** @jsxImportSource hono/jsx */
/** What a person sees who wants fewer reminders, or none. */
import type { Unsubscribable } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { Buttons, Name } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Scope, Unsubscribing } from "../../../shared/reminders/unsubscribe_token.ts";
import type { PageDeps } from "../page_deps.ts";

export function renderQuestion(
  c: AppContext,
  { config }: PageDeps,
  { link, choices }: { link: Unsubscribing; choices: Unsubscribable },
): Promise<Response> {
  return renderPage(c, {
    title: "Unsubscribe",
    config,
    children: (
      <>
        <h1>Stop reminder mails?</h1>
        <p class="lead">Your bills stay as they are. You can turn reminders on again under Account.</p>
        <form method="post" action={c.req.path + new URL(c.req.url).search} class="stack">
          {link.scope === "all"
            ? <Choices choices={choices} />
            : <p>This stops the reminders of {<Name>{nameOf(link.scope, choices)}</Name>}.</p>}
          <Buttons>
            <button class="primary" type="submit">Stop reminders</button>
          </Buttons>
        </form>
      </>
    ),
  });
}

function Choices({ choices }: { choices: Unsubscribable }) {
  const organizations = choices.organizations.filter(({ reminders_enabled }) => reminders_enabled);
  const bills = organizations.flatMap((organization) => organization.bills.filter((bill) => bill.reminder_enabled));
  return (
    <fieldset>
      <legend>Which ones</legend>
      <div class="choices">
        <Choice scope="all" title="All of them" checked />
        {organizations.length > 1 &&
          organizations.map(({ id, name }) => (
            <Choice scope={id} title={name} detail="Bills of this organization only" />
          ))}
      </div>
      {bills.length > 0 && (
        <details>
          <summary>Only one bill</summary>
          <div class="choices">
            {bills.map(({ id, name }) => <Choice scope={id} title={name} />)}
          </div>
        </details>
      )}
    </fieldset>
  );
}

function Choice(
  { scope, title, detail, checked }: { scope: Scope; title: string; detail?: string; checked?: boolean },
) {
  return (
    <label class="choice">
      <input type="radio" name="scope" value={scope} checked={checked} />
      <span>
        <span class="title">
          <Name>{title}</Name>
        </span>
        {detail && <span class="detail">{detail}</span>}
      </span>
    </label>
  );
}

function nameOf(scope: Scope, { organizations }: Unsubscribable): string {
  return [...organizations, ...organizations.flatMap(({ bills }) => bills)].find(({ id }) => id === scope)?.name ??
    "something that is gone";
}

export function renderDone(c: AppContext, { config }: PageDeps, scope: Scope): Promise<Response> {
  const what = scope === "all"
    ? "reminder mails"
    : scope.startsWith("org_")
    ? "reminders of that organization"
    : "reminders of that bill";
  return renderPage(c, {
    title: "Unsubscribed",
    config,
    children: (
      <>
        <h1>Done: no more {what}</h1>
        <p class="lead">Nothing else was changed. You can turn them on again at any time.</p>
        <p>
          <a href="/account">Go to your account</a>
        </p>
      </>
    ),
  });
}

export const refuseLink = (c: AppContext, { config }: PageDeps): Promise<Response> =>
  Promise.resolve(renderProblem(c, {
    config,
    status: 400,
    problem: {
      title: "This link does not work",
      message: "It is not complete, or what it was about is gone.",
      changed: "Nothing was changed.",
      next: { label: "Change reminders under Account", href: "/account" },
    },
  }));
