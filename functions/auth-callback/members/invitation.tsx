/** @jsxImportSource hono/jsx */
/**
 * The page behind an invitation's link. It shows inviter, invited address and organization. Accepting requires a form,
 * since mail scanners follow links. Other people see only the beginning of the invited address.
 */
import type { InvitationEnd, ShownInvitation } from "../../../shared/db/members_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { withNext } from "../../../shared/next_path.ts";
import { BrowserToken, Buttons, Name } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { invitationPath, membersPath } from "./addresses.ts";
import { hashInvitationToken } from "./mails.ts";

const tokenOf = (c: AppContext) => c.req.query("t") ?? "";

export const showInvitation = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const tokenHash = hashInvitationToken(tokenOf(c));
    if (!tokenHash) return await refuse(c, deps, "unknown", user);
    const shown = await deps.members.readInvitation({
      userId: user.id,
      email: user.email,
      tokenHash,
      at: deps.clock(),
    });
    switch (shown.outcome) {
      case "for_another":
        return await renderForAnother(c, deps, { user, invited: shown.masked_address });
      case "open":
        return shown.onboarded
          ? await renderInvitation(c, deps, { user, shown })
          : c.redirect(withNext("/onboarding", invitationPath(tokenOf(c))), 303);
      case "already_member":
        return c.redirect(membersPath(shown.organization_id), 303);
      case "leaving":
        return c.redirect("/account/delete", 303);
      default:
        return await refuse(c, deps, shown.outcome, user);
    }
  });

export const postInvitation = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user }) => {
    const here = invitationPath(tokenOf(c));
    const tokenHash = hashInvitationToken(tokenOf(c));
    if (!tokenHash) return await refuse(c, deps, "unknown", user);
    const answer = await deps.members.accept({ userId: user.id, email: user.email, tokenHash, at: deps.clock() });
    switch (answer.outcome) {
      case "accepted":
      // Submitting twice has the same result as submitting once.
      case "already_member":
        return c.redirect(membersPath(answer.organization_id, "joined"), 303);
      case "for_another":
        return c.redirect(here, 303);
      case "not_onboarded":
        return c.redirect(withNext("/onboarding", here), 303);
      case "leaving":
        return c.redirect("/account/delete", 303);
      default:
        return await refuse(c, deps, answer.outcome, user);
    }
  });

async function renderInvitation(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, shown }: { user: SignedInUser; shown: ShownInvitation },
): Promise<Response> {
  const { invitationPage: words } = c.get("reader").words;
  const formToken = await createFormToken(config, { userId: user.id, at: clock() });
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    children: (
      <>
        <h1>{words.heading(<Name>{shown.organization_name}</Name>)}</h1>
        <p class="lead">{words.lead[shown.role](<Name>{shown.inviter}</Name>)}</p>
        <p>{words.seen}</p>
        <form method="post" action={invitationPath(tokenOf(c))}>
          <input type="hidden" name="form_token" value={formToken} />
          <Buttons even>
            <button class="primary" type="submit">{words.accept}</button>
            <a class="button" href="/account">{words.notNow}</a>
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
          <Buttons>
            <button class="primary" type="submit">{words.signIn}</button>
            <a class="button" href="/account">{words.stay}</a>
          </Buttons>
        </form>
      </>
    ),
  });
}

/** @param why `unknown` also for a replaced link. */
async function refuse(
  c: AppContext,
  { config }: PageDeps,
  why: "unknown" | Exclude<InvitationEnd, "already_member" | "leaving">,
  user: SignedInUser,
): Promise<Response> {
  const { invitationPage: words, problems, frame } = c.get("reader").words;
  const problem = {
    ...(why === "unknown" ? words.unknown : words.ends[why]),
    changed: problems.unchanged,
    next: { label: frame.goToAccount, href: "/account" },
  };
  return await renderProblem(c, { config, status: why === "unknown" ? 404 : 403, problem, user });
}
