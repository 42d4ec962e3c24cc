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
  const isOther = user && user.email.toLowerCase() !== address?.toLowerCase();
  return await renderPage(c, {
    title: "Confirm that it’s you",
    config,
    status: error ? 400 : 200,
    children: (
      <>
        {address
          ? (
            <h1>
              Sign in as <Name>{address}</Name>
            </h1>
          )
          : <h1>Whose link is this?</h1>}
        {isOther && (
          <Notice kind="warning">
            You are signed in here as{" "}
            <strong>
              <Name>{user.email}</Name>
            </strong>. This link {address ? "switches" : "can switch"}{" "}
            to another account: what you enter from then on goes there.
          </Notice>
        )}
        <p class="lead">
          {address
            ? "You opened the link that we emailed to this address. Press the button to sign in on this device."
            : "You opened a sign-in link that doesn’t say which address it is for. Type the address it was sent to."}
        </p>
        <p class="muted">
          Not your address? Didn’t ask for this? Close this page and nothing happens.
        </p>
        <form method="post" action={c.req.path + new URL(c.req.url).search} class="stack">
          <BrowserToken token={browserToken} />
          {!address && (
            <TextField
              name="email"
              label="Email address"
              type="email"
              error={error}
              required
              autocomplete="email"
              inputmode="email"
              maxlength={254}
            />
          )}
          <Buttons>
            <button class="primary" type="submit">Sign in</button>
          </Buttons>
        </form>
      </>
    ),
  });
}
