/** @jsxImportSource hono/jsx */
/**
 * The page behind the links that are mailed to the old and the new sign-in address. It asks for a click, since mail
 * scanners follow links. The mail may be read on another device, so the page works without a session. It starts no
 * session either, because a forwarded link must not sign anyone in to a stranger's account.
 */
import { AppError } from "../../../../shared/errors.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import { createBrowserToken } from "../../../../shared/http/browser_token.ts";
import { readVisitorForm } from "../../../../shared/http/form_post.ts";
import { askIdentityProvider, isSuspension, suspended } from "../../../../shared/http/session.ts";
import { BrowserToken, Name, Submit } from "../../../../shared/pages/components.tsx";
import { renderProblem } from "../../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import type { Handler, PageDeps } from "../../page_guards.ts";
import { readAddresses } from "./addresses.ts";

const addressesOf = (c: AppContext, { config, clock }: PageDeps) =>
  readAddresses(config, c.req.query("for") ?? "", clock());

/** `?token_hash=&type=email_change`, and `&for=` if the identity provider preserved it. */
export const showConfirmation = (deps: PageDeps): Handler => async (c) => {
  if (!c.req.query("token_hash")) return await refuse(c, deps);
  const asked = await addressesOf(c, deps);
  const { confirmAddress: words } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config: deps.config,
    children: (
      <>
        <h1>{words.question}</h1>
        <p class="lead">
          {asked ? words.lead(<Name>{asked.from}</Name>, <Name>{asked.to}</Name>) : words.leadUnsaid}
        </p>
        <p class="muted">{words.notYours}</p>
        <form method="post" action={c.req.path + new URL(c.req.url).search}>
          <BrowserToken token={await createBrowserToken(c, deps.config)} />
          <Submit>{words.yes}</Submit>
        </form>
      </>
    ),
  });
};

export const postConfirmation = (deps: PageDeps): Handler => async (c) => {
  await readVisitorForm(c, deps.config);
  const tokenHash = c.req.query("token_hash");
  if (!tokenHash) return await refuse(c, deps);
  const before = [...c.get("cookies")];
  const { data, error } = await askIdentityProvider(c, deps, async (auth) => {
    const answer = await auth.verifyOtp({ token_hash: tokenHash, type: "email_change" });
    if (answer.data.session) await auth.signOut({ scope: "local" });
    return answer;
  });
  // The existing session continues.
  c.set("cookies", before);
  if (isSuspension(error)) throw suspended();
  if (error) return await refuse(c, deps);
  const { session } = data;
  if (!session?.user.email) return await renderDone(c, deps, undefined);
  const { id: userId, email } = session.user;
  await deps.store.noteSignIn({ userId, email, at: deps.clock() }).catch((error) => {
    // The address has changed and the link is used up; the next sign-in records the new address.
    if (!(error instanceof AppError && error.code === "unavailable")) throw error;
  });
  return await renderDone(c, deps, email);
};

/** @param address the new address, once both have confirmed. */
function renderDone(c: AppContext, { config }: PageDeps, address: string | undefined): Promise<Response> {
  const { confirmAddress: words, frame } = c.get("reader").words;
  return renderPage(c, {
    title: address ? words.doneTitle : words.half,
    config,
    children: (
      <>
        <h1>{address ? words.done : words.half}</h1>
        <p class="lead">{address ? words.doneLead(<Name>{address}</Name>) : words.halfLead}</p>
        {address && (
          <p>
            <a href="/account">{frame.goToAccount}</a>
          </p>
        )}
      </>
    ),
  });
}

function refuse(c: AppContext, { config }: PageDeps): Promise<Response> {
  const { confirmAddress: words, frame } = c.get("reader").words;
  const problem = {
    title: words.stale,
    message: words.staleMessage,
    // After a double click, the browser shows only the second response; the first click may have changed the address.
    changed: words.perhapsPressed,
    next: { label: frame.goToAccount, href: "/account" },
  };
  return renderProblem(c, { config, status: 400, problem });
}
