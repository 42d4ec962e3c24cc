/** @jsxImportSource hono/jsx */
/** The page that a mailed link opens: whom it signs in, and one press, since scanners follow links in mails but send no forms. */
import type { AppContext } from "../../shared/http/app.ts";
import type { SignedInUser } from "../../shared/http/session.ts";
import { Buttons, Name, Notice, TextField } from "../../shared/pages/components.tsx";
import { renderPage } from "../../shared/pages/layout.tsx";
import type { PageDeps } from "./page_deps.ts";

export interface ConfirmView {
  /** Undefined when the link does not say it: then the person does. */
  address: string | undefined;
  /** Who is signed in here by now. */
  user: SignedInUser | null;
}

/** A link that somebody else sent would sign people in to an account of theirs, to fill it for them: hence the addresses. */
export function renderConfirm(c: AppContext, { config }: PageDeps, { address, user }: ConfirmView): Promise<Response> {
  const isOther = user && user.email.toLowerCase() !== address?.toLowerCase();
  return renderPage(c, {
    title: "Confirm that it is you",
    config,
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
            ? "You opened the link from our mail to this address. Press the button to sign in on this device."
            : "You opened a link to sign in, but it does not say for which address. Type the one that you got it at."}
        </p>
        <p class="muted">
          If it is not your address, or you did not ask for that mail, close this page: nothing happens.
        </p>
        <form method="post" action={c.req.path + new URL(c.req.url).search} class="stack">
          {!address && (
            <TextField
              name="email"
              label="E-mail address"
              type="email"
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
