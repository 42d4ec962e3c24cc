/** @jsxImportSource hono/jsx */
/** What a person sees who wants fewer reminders, or none. Without a session it names organizations and the kind of mail, nothing else. */
import type { Unsubscribable } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { withNext } from "../../../shared/next_path.ts";
import { Buttons, Name } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Scope } from "../../../shared/reminders/unsubscribe_token.ts";
import type { PageDeps } from "../page_guards.ts";

type Organizations = Unsubscribable["organizations"];

const here = (c: AppContext) => c.req.path + new URL(c.req.url).search;

export interface QuestionView {
  choices: Unsubscribable;
  /** Who is signed in here, the owner or not. */
  user: SignedInUser | null;
  /** Of the owner, when it is they who look. */
  formToken: string | undefined;
}

export function renderQuestion(
  c: AppContext,
  { config }: PageDeps,
  { choices, user, formToken }: QuestionView,
): Promise<Response> {
  const organizations = choices.email_enabled ? choices.organizations.filter((one) => one.reminders_enabled) : [];
  if (organizations.length === 0) return renderOff(c, config);
  return renderPage(c, {
    title: "Unsubscribe",
    config,
    user,
    children: (
      <>
        <h1>Stop reminder emails?</h1>
        <p class="lead">
          {organizations.length === 1
            ? (
              <>
                They tell you about due and overdue bills of{" "}
                <strong>
                  <Name>{organizations[0]!.name}</Name>
                </strong>.
              </>
            )
            : "They tell you about due and overdue bills of your organizations."} Your bills stay as they are.
        </p>
        <form method="post" action={here(c)} class="stack">
          {formToken && <input type="hidden" name="form_token" value={formToken} />}
          <Choices organizations={organizations} />
          <Buttons>
            <button class="primary" type="submit">Unsubscribe</button>
          </Buttons>
        </form>
        {!user && (
          <section class="small muted">
            Only one bill? <a href={withNext("/login", here(c))}>Sign in to choose it</a>.
          </section>
        )}
      </>
    ),
  });
}

/** With one organization and no bills to choose from there is no choice. */
function Choices({ organizations }: { organizations: Organizations }) {
  const bills = organizations.flatMap((organization) => organization.bills ?? []);
  if (organizations.length === 1 && bills.length === 0) return null;
  return (
    <fieldset>
      <legend>Which ones</legend>
      <div class="choices">
        <Choice scope="all" title="All of them" checked />
        {organizations.length > 1 && organizations.map(({ id, name }) => <Choice scope={id} title={name} />)}
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

function Choice({ scope, title, checked }: { scope: Scope; title: string; checked?: boolean }) {
  return (
    <label class="choice">
      <input type="radio" name="scope" value={scope} checked={checked} />
      <span class="title">
        <Name>{title}</Name>
      </span>
    </label>
  );
}

const renderOff = (c: AppContext, config: PageDeps["config"]) =>
  renderPage(c, {
    title: "Reminder emails are off",
    config,
    children: (
      <>
        <h1>Reminder emails are off</h1>
        <p class="lead">You won’t get any.</p>
        <BackOn />
      </>
    ),
  });

const BackOn = () => (
  <p>
    Changed your mind? <a href="/account">Turn them back on in your account</a>.
  </p>
);

export function renderDone(c: AppContext, { config }: PageDeps, scope: Scope): Promise<Response> {
  const what = scope === "all"
    ? "You won’t get any more reminder emails."
    : scope.startsWith("org_")
    ? "You won’t get reminders about that organization’s bills."
    : "You won’t get reminders about that bill.";
  return renderPage(c, {
    title: "Unsubscribed",
    config,
    children: (
      <>
        <h1>You’re unsubscribed</h1>
        <p class="lead">{what} Nothing else has changed.</p>
        <BackOn />
      </>
    ),
  });
}

/** What needs the owner of the link. @param user whoever else is signed in here. */
export const askToSignIn = (c: AppContext, { config }: PageDeps, user: SignedInUser | null): Promise<Response> =>
  renderProblem(c, {
    config,
    status: 403,
    problem: user
      ? {
        title: "This link is for another account",
        message: "Sign out, then sign in with the address that the email was sent for.",
        changed: "Nothing was changed.",
        next: { label: "Go to your account", href: "/account" },
      }
      : {
        title: "Sign in to unsubscribe",
        message: "The links in our emails work for 90 days. After that, and for a single bill, we ask you to sign in.",
        changed: "Nothing was changed.",
        next: { label: "Sign in", href: withNext("/login", here(c)) },
      },
    user,
  });

export const refuseLink = (c: AppContext, { config }: PageDeps): Promise<Response> =>
  Promise.resolve(renderProblem(c, {
    config,
    status: 400,
    problem: {
      title: "This link doesn’t work",
      message: "Part of it is missing, or what it was about is gone.",
      changed: "Nothing was changed.",
      next: { label: "Change reminders in your account", href: "/account" },
    },
  }));
