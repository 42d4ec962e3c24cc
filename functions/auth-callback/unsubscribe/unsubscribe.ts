/**
 * The link of the reminder mails. GET asks, because programs that scan mails follow links; POST acts, with no session and no form token: the
 * signed link is the permission, and a mail program posts it by itself (RFC 8058 section 3.2).
 */
import type { AppContext } from "../../../shared/http/app.ts";
import { readText } from "../../../shared/http/read_body.ts";
import {
  isScope,
  readUnsubscribing,
  type Scope,
  type Unsubscribing,
} from "../../../shared/reminders/unsubscribe_token.ts";
import type { Handler, PageDeps } from "../page_deps.ts";
import { refuseLink, renderDone, renderQuestion } from "./unsubscribe_page.tsx";

const LARGEST_BYTES = 16 * 1024;

const linkOf = (c: AppContext, { config }: PageDeps) => readUnsubscribing(config.codeSecrets, c.req.query("t") ?? "");

export const showUnsubscribe = (deps: PageDeps): Handler => async (c) => {
  const link = await linkOf(c, deps);
  const choices = link && await deps.store.readUnsubscribing(link.ownerId);
  return link && choices ? await renderQuestion(c, deps, { link, choices }) : await refuseLink(c, deps);
};

/** Field `scope` from our own page; a mail program sends `List-Unsubscribe=One-Click`, in either form encoding, and means the link's own. */
export const postUnsubscribe = (deps: PageDeps): Handler => async (c) => {
  const link = await linkOf(c, deps);
  if (!link) return await refuseLink(c, deps);
  const scope = await chosenScope(c, link);
  const { outcome } = await deps.store.unsubscribe({ ownerId: link.ownerId, scope, at: deps.clock() });
  return outcome === "unknown" ? await refuseLink(c, deps) : await renderDone(c, deps, scope);
};

/** What the page offered; a narrower link allows nothing but itself. */
async function chosenScope(c: AppContext, { scope }: Unsubscribing): Promise<Scope> {
  const body = await readText(c.req.raw, LARGEST_BYTES);
  const chosen = new URLSearchParams(body).get("scope");
  return scope === "all" && isScope(chosen) ? chosen : scope;
}
