/** @jsxImportSource hono/jsx */
/**
 * The page behind an invitation's link. It shows the inviter, the invited address and the organization, even to
 * visitors without an account. Accepting requires a form, since mail scanners follow links. Other signed-in people see
 * only the beginning of the invited address.
 */
import type { InvitationEnd, ShownInvitation } from "../../../shared/db/members_store.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import { createFormToken, readVisitorForm } from "../../../shared/http/form_post.ts";
import {
  clearVerifiers,
  hasSession,
  isSuspension,
  readSession,
  type SignedInUser,
  signInWithoutMail,
  suspended,
} from "../../../shared/http/session.ts";
import { withNext } from "../../../shared/next_path.ts";
import { BrowserToken, Buttons, Name, Submit } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { booksPath } from "../../../shared/urls.ts";
import { check, read as readOnboarding, suggest } from "../onboarding/onboarding.ts";
import {
  CountryField,
  type PersonFields,
  type Problems,
  SUGGEST,
  TimezoneField,
} from "../onboarding/onboarding_page.tsx";
import { type Form, type Handler, type PageDeps, signedInForm } from "../page_guards.ts";
import { invitationPath, membersPath } from "./addresses.ts";
import { hashInvitationToken } from "./mails.ts";

const tokenOf = (c: AppContext) => c.req.query("t") ?? "";

export const showInvitation = (deps: PageDeps): Handler => async (c) => {
  const user = await readSession(c, deps);
  if (user) c.set("signedIn", user);
  const shown = await read(c, deps, user);
  switch (shown.outcome) {
    case "for_another":
      return await renderForAnother(c, deps, { user: user!, invited: shown.masked_address });
    case "open":
      return await renderInvitation(c, deps, { user, shown });
    case "already_member":
      return c.redirect(membersPath(shown.organization_id), 303);
    case "leaving":
      return c.redirect("/account/delete", 303);
    default:
      return await refuse(c, deps, shown.outcome, user);
  }
};

export const postInvitation = (deps: PageDeps): Handler => {
  const bySession = signedInForm(deps, (c, asked) => accept(c, deps, asked));
  return async (c) => hasSession(c, deps.config) ? await bySession(c) : await acceptSignedOut(c, deps);
};

async function read(c: AppContext, { members, clock }: PageDeps, user: SignedInUser | null) {
  const tokenHash = hashInvitationToken(tokenOf(c));
  if (!tokenHash) return { outcome: "unknown" as const };
  return await members.readInvitation({ user, tokenHash, at: clock() });
}

/**
 * The secret proves access to the invited mailbox, as a sign-in link does, so it may create the account of that
 * address. It never signs in to an existing account, because an invitation is valid for days and may be forwarded.
 */
async function acceptSignedOut(c: AppContext, deps: PageDeps): Promise<Response> {
  const form = await readVisitorForm(c, deps.config);
  const shown = await read(c, deps, null);
  if (shown.outcome !== "open" || shown.onboarded) return c.redirect(invitationPath(tokenOf(c)), 303);
  const email = shown.address;
  const { words } = c.get("reader");
  const values = readOnboarding(form, email, words.onboarding);
  const problems = check(values, words.onboarding);
  if (Object.keys(problems).length > 0) {
    return await renderInvitation(c, deps, { user: null, shown, values, problems });
  }
  await claimAttempt(c, deps, { attempt: "login_link", subject: tokenOf(c) });
  const answer = await signInWithoutMail(c, deps, { email, type: "invite" });
  if (!answer) return await renderInvitation(c, deps, { user: null, shown: { ...shown, onboarded: true } });
  const { id } = answer.data.user ?? {};
  if (answer.error || !id) throw isSuspension(answer.error) ? suspended() : noSignIn(answer.error);
  clearVerifiers(c, deps);
  await deps.store.noteSignIn({ userId: id, email, at: deps.clock() });
  return await accept(c, deps, { user: { id, email }, form });
}

const noSignIn = (cause: unknown) =>
  new AppError("unavailable", "an invited person was not signed in", {
    says: ({ signInServiceDown }) => signInServiceDown,
    cause,
  });

/** Without a profile, the form also has the two profile fields. */
async function accept(
  c: AppContext,
  deps: PageDeps,
  { user, form }: { user: SignedInUser; form: Form },
): Promise<Response> {
  const here = invitationPath(tokenOf(c));
  const tokenHash = hashInvitationToken(tokenOf(c));
  if (!tokenHash) return await refuse(c, deps, "unknown", user);
  if (form.has("country")) {
    const { words } = c.get("reader");
    const values = readOnboarding(form, user.email, words.onboarding);
    const problems = check(values, words.onboarding);
    const shown = await read(c, deps, user);
    if (shown.outcome !== "open") return c.redirect(here, 303);
    const answer = Object.keys(problems).length > 0 ? undefined : await deps.store.completeOnboarding({
      ...values,
      organization_name: null,
      userId: user.id,
      email: user.email,
      at: deps.clock(),
    });
    if (answer?.outcome === "invalid") problems[answer.field] = words.onboarding.notInList;
    if (Object.keys(problems).length > 0) return await renderInvitation(c, deps, { user, shown, values, problems });
  }
  const answer = await deps.members.accept({ userId: user.id, email: user.email, tokenHash, at: deps.clock() });
  switch (answer.outcome) {
    case "accepted":
    // Submitting twice has the same result as submitting once.
    case "already_member":
      return c.redirect(`${booksPath(answer.organization_id)}&news=joined`, 303);
    case "for_another":
    case "not_onboarded":
      return c.redirect(here, 303);
    case "leaving":
      return c.redirect("/account/delete", 303);
    default:
      return await refuse(c, deps, answer.outcome, user);
  }
}

interface InvitationView {
  /** Null for visitors who are not signed in. */
  user: SignedInUser | null;
  shown: ShownInvitation;
  values?: PersonFields["values"];
  problems?: Problems;
}

async function renderInvitation(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, shown, values, problems }: InvitationView,
): Promise<Response> {
  const reader = c.get("reader");
  const { invitationPage: words, login } = reader.words;
  const here = invitationPath(tokenOf(c));
  const address = <Name>{shown.address}</Name>;
  const fields = { values: values ?? suggest(c, shown.address), problems: problems ?? {}, reader };
  const signsIn = !user && shown.onboarded;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    status: problems ? 400 : 200,
    ...(!shown.onboarded && !values && { script: SUGGEST }),
    children: (
      <>
        <h1>{words.heading(<Name>{shown.organization_name}</Name>)}</h1>
        <p class="lead">{words.lead[shown.role](<Name>{shown.inviter}</Name>)}</p>
        <p>{signsIn ? words.signInFirst(address) : !user && words.joinsAs(address)} {words.seen}</p>
        <form method="post" action={signsIn ? withNext("/login", here) : here} class="stack">
          {user
            ? (
              <input
                type="hidden"
                name="form_token"
                value={await createFormToken(config, { userId: user.id, at: clock() })}
              />
            )
            : <BrowserToken token={await createBrowserToken(c, config)} />}
          {signsIn && <input type="hidden" name="email" value={shown.address} />}
          {!shown.onboarded && (
            <>
              <CountryField {...fields} />
              <TimezoneField {...fields} />
            </>
          )}
          <Buttons even={user !== null}>
            <button class="primary" type="submit">{signsIn ? login.send : words.accept}</button>
            {user && <a class="button" href="/account">{words.notNow}</a>}
          </Buttons>
        </form>
      </>
    ),
  });
}

/** Signing out returns here after a new sign-in. */
async function renderForAnother(
  c: AppContext,
  { config }: PageDeps,
  { user, invited }: { user: SignedInUser; invited: string },
): Promise<Response> {
  const { forAnother: words } = c.get("reader").words.invitationPage;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    status: 403,
    children: (
      <>
        <h1>{words.title}</h1>
        <p class="lead">{words.lead(<Name>{invited}</Name>, <Name>{user.email}</Name>)}</p>
        <form method="post" action="/logout">
          <BrowserToken token={await createBrowserToken(c, config)} />
          <input type="hidden" name="next" value={invitationPath(tokenOf(c))} />
          <Submit leave={{ href: "/account", words: words.stay }}>{words.signIn}</Submit>
        </form>
      </>
    ),
  });
}

/** @param why `unknown` also for a replaced link */
async function refuse(
  c: AppContext,
  { config }: PageDeps,
  why: "unknown" | Exclude<InvitationEnd, "already_member" | "leaving">,
  user: SignedInUser | null,
): Promise<Response> {
  const { invitationPage: words, problems, frame } = c.get("reader").words;
  const problem = {
    ...(why === "unknown" ? words.unknown : words.ends[why]),
    changed: problems.unchanged,
    next: { label: frame.goToAccount, href: "/account" },
  };
  return await renderProblem(c, { config, status: why === "unknown" ? 404 : 403, problem, user });
}
