/** @jsxImportSource hono/jsx */
/** The unsubscribe page. Without a session it shows only organizations and the kind of mail. */
import type { Unsubscribable } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { withNext } from "../../../shared/next_path.ts";
import { Name, Submit } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Scope } from "../../../shared/reminders/unsubscribe_token.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { PageDeps } from "../page_guards.ts";

type Organizations = Unsubscribable["organizations"];
type UnsubscribeWords = PageWords["unsubscribe"];

const here = (c: AppContext) => c.req.path + new URL(c.req.url).search;

export interface QuestionView {
  choices: Unsubscribable;
  /** The signed-in person, who may not be the link's person. */
  user: SignedInUser | null;
  /** Present if the link's person is signed in. */
  formToken: string | undefined;
}

export function renderQuestion(
  c: AppContext,
  { config }: PageDeps,
  { choices, user, formToken }: QuestionView,
): Promise<Response> {
  const organizations = choices.email_enabled ? choices.organizations.filter(({ mails }) => mails !== "none") : [];
  if (organizations.length === 0) return renderOff(c, config);
  const { unsubscribe: words } = c.get("reader").words;
  return renderPage(c, {
    title: words.title,
    config,
    user,
    children: (
      <>
        <h1>{words.question}</h1>
        <p class="lead">
          {organizations.length === 1 ? words.leadOne(<Name>{organizations[0]!.name}</Name>) : words.leadMany}
        </p>
        <form method="post" action={here(c)} class="stack">
          {formToken && <input type="hidden" name="form_token" value={formToken} />}
          <Choices organizations={organizations} words={words} />
          <Submit>{words.unsubscribe}</Submit>
        </form>
        {!user && (
          <section class="small muted">
            {words.signInToChoose((text) => <a href={withNext("/login", here(c))}>{text}</a>)}
          </section>
        )}
      </>
    ),
  });
}

/** No choice for a single organization without bills. */
function Choices({ organizations, words }: { organizations: Organizations; words: UnsubscribeWords }) {
  const bills = organizations.flatMap((organization) => organization.bills ?? []);
  if (organizations.length === 1 && bills.length === 0) return null;
  return (
    <fieldset>
      <legend>{words.which}</legend>
      <div class="choices">
        <Choice scope="all" title={words.all} checked />
        {organizations.length > 1 && organizations.map(({ id, name }) => <Choice scope={id} title={name} />)}
      </div>
      {bills.length > 0 && (
        <details>
          <summary>{words.oneBill}</summary>
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

function renderOff(c: AppContext, config: PageDeps["config"]): Promise<Response> {
  const { unsubscribe: words } = c.get("reader").words;
  return renderPage(c, {
    title: words.off,
    config,
    children: (
      <>
        <h1>{words.off}</h1>
        <p class="lead">{words.offLead}</p>
        <BackOn words={words} />
      </>
    ),
  });
}

const BackOn = ({ words }: { words: UnsubscribeWords }) => (
  <p>{words.backOn((text) => <a href="/account">{text}</a>)}</p>
);

export function renderDone(c: AppContext, { config }: PageDeps, scope: Scope): Promise<Response> {
  const { unsubscribe: words } = c.get("reader").words;
  const what = scope === "all" ? words.doneAll : scope.startsWith("org_") ? words.doneOrganization : words.doneBill;
  return renderPage(c, {
    title: words.doneTitle,
    config,
    children: (
      <>
        <h1>{words.done}</h1>
        <p class="lead">{what}</p>
        <BackOn words={words} />
      </>
    ),
  });
}

/** For actions that only the link's person may take. @param user a different signed-in person. */
export function askToSignIn(c: AppContext, { config }: PageDeps, user: SignedInUser | null): Promise<Response> {
  const { unsubscribe: { otherAccount, signIn }, problems, frame } = c.get("reader").words;
  const changed = problems.unchanged;
  const problem = user
    ? { ...otherAccount, changed, next: { label: frame.goToAccount, href: "/account" } }
    : { ...signIn, changed, next: { label: signIn.next, href: withNext("/login", here(c)) } };
  return renderProblem(c, { config, status: 403, problem, user });
}

export async function refuseLink(c: AppContext, { config }: PageDeps): Promise<Response> {
  const { unsubscribe: { broken }, problems } = c.get("reader").words;
  const problem = { ...broken, changed: problems.unchanged, next: { label: broken.next, href: "/account" } };
  return await renderProblem(c, { config, status: 400, problem });
}
