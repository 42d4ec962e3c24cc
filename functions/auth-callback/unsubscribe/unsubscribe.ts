/**
 * The unsubscribe link of reminder mails. GET asks for confirmation, because mail scanners follow links. POST needs
 * neither a session nor a form token: the signed link authorizes it for 90 days, and mail programs post to it (RFC
 * 8058 section 3.2). People forward and archive mails, so the link reveals nothing about the bills. An old link, or
 * the choice of a single bill, requires the person's session.
 */
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken, requireFormToken } from "../../../shared/http/form_post.ts";
import { readText } from "../../../shared/http/read_body.ts";
import { readSession, type SignedInUser } from "../../../shared/http/session.ts";
import { isScope, readUnsubscribing, type Unsubscribing } from "../../../shared/reminders/unsubscribe_token.ts";
import type { Handler, PageDeps } from "../page_guards.ts";
import { askToSignIn, refuseLink, renderDone, renderQuestion } from "./unsubscribe_page.tsx";

const LARGEST_BYTES = 16 * 1024;

const linkOf = (c: AppContext, { config, clock }: PageDeps) =>
  readUnsubscribing(config.codeSecrets, { token: c.req.query("t") ?? "", at: clock() });

export const showUnsubscribe = (deps: PageDeps): Handler => async (c) => {
  const link = await linkOf(c, deps);
  if (!link) return await refuseLink(c, deps);
  const { userId } = link;
  const user = await visitorOf(c, deps, link);
  const isTheirs = user?.id === userId;
  if (link.isExpired && !isTheirs) return await askToSignIn(c, deps, user);
  const choices = await deps.store.readUnsubscribing({ userId, withBills: isTheirs });
  if (!choices) return await refuseLink(c, deps);
  const formToken = isTheirs ? await createFormToken(deps.config, { userId: userId, at: deps.clock() }) : undefined;
  return await renderQuestion(c, deps, { choices, user, formToken });
};

/**
 * Field `scope` from our own page. A mail program sends `List-Unsubscribe=One-Click`, in either form encoding, which
 * ends all reminders.
 */
export const postUnsubscribe = (deps: PageDeps): Handler => async (c) => {
  const link = await linkOf(c, deps);
  if (!link) return await refuseLink(c, deps);
  const form = new Map(new URLSearchParams(await readText(c, LARGEST_BYTES)));
  const chosen = form.get("scope");
  const scope = isScope(chosen) ? chosen : "all";
  if (link.isExpired || scope.startsWith("bill_")) {
    const user = await readSession(c, deps);
    if (user?.id !== link.userId) return await askToSignIn(c, deps, user);
    await requireFormToken(deps.config, { form, userId: user.id, at: deps.clock() });
  }
  const { outcome } = await deps.store.unsubscribe({ userId: link.userId, scope, at: deps.clock() });
  return outcome === "unknown" ? await refuseLink(c, deps) : await renderDone(c, deps, scope);
};

/** A valid link also works while the identity provider is down. */
async function visitorOf(c: AppContext, deps: PageDeps, { isExpired }: Unsubscribing): Promise<SignedInUser | null> {
  const session = readSession(c, deps);
  return isExpired ? await session : await session.catch(() => null);
}
