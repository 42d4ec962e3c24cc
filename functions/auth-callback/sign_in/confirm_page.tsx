/** @jsxImportSource hono/jsx */
/** The page that a mailed link opens: whom it signs in, and one press, since scanners follow links in mails but send no forms. */
import type { AppContext } from "../../../shared/http/app.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { BrowserToken, Buttons, Name, Notice, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { PageDeps } from "../page_guards.ts";

export interface ConfirmView {
  /** Undefined when the link does not say it: then the person does. */
  address: string | undefined;
  /** Who is signed in here by now. */
  user: SignedInUser | null;
  /** What is wrong with the address that was typed. */
  error?: string;
}

/** A link that somebody else sent would sign people in to an account of theirs, to fill it for them: hence the addresses. */
export async function renderConfirm(
  c: AppContext,
  { config }: PageDeps,
  { address, user, error }: ConfirmView,
): Promise<Response> {
  const browserToken = await createBrowserToken(c, config);
  const { confirm: words } = c.get("reader").words;
  const isOther = user && user.email.toLowerCase() !== address?.toLowerCase();
  const warn = address ? words.switches : words.canSwitch;
  return await renderPage(c, {
    title: words.title,
    config,
    status: error ? 400 : 200,
    children: (
      <>
        <h1>{address ? words.signInAs(<Name>{address}</Name>) : words.whose}</h1>
        {isOther && <Notice kind="warning">{warn(<Name>{user.email}</Name>)}</Notice>}
        <p class="lead">{address ? words.lead : words.leadUnsaid}</p>
        <p class="muted">{words.notYours}</p>
        <form method="post" action={c.req.path + new URL(c.req.url).search} class="stack">
          <BrowserToken token={browserToken} />
          {!address && (
            <TextField
              name="email"
              label={words.email}
              type="email"
              error={error}
              required
              autocomplete="email"
              inputmode="email"
              maxlength={254}
            />
          )}
          <Buttons>
            <button class="primary" type="submit">{words.signIn}</button>
          </Buttons>
        </form>
      </>
    ),
  });
}
