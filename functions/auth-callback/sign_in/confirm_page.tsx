/** @jsxImportSource hono/jsx */
/**
 * The page behind a mailed link. It shows the address that the link signs in. It asks for a click, since mail scanners
 * follow links but submit no forms.
 */
import type { AppContext } from "../../../shared/http/app.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { BrowserToken, Name, Notice, Submit, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { OpenPageDeps } from "../page_guards.ts";

export interface ConfirmView {
  /** Undefined if the link names no address; the person then types it. */
  address: string | undefined;
  /** The currently signed-in person. */
  user: SignedInUser | null;
  /** The problem with the typed address. */
  error?: string;
}

/**
 * Shows the addresses, because an attacker's link could sign people in to the attacker's account to collect their data.
 */
export async function renderConfirm(
  c: AppContext,
  { config }: OpenPageDeps,
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
          <Submit>{words.signIn}</Submit>
        </form>
      </>
    ),
  });
}
