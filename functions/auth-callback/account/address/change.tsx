/** @jsxImportSource hono/jsx */
/**
 * Asks the identity provider to change the sign-in address. The provider mails the old and the new address, and
 * changes the address once both have confirmed. The page never reveals whether the new address has an account.
 */
import { AppError } from "../../../../shared/errors.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import { claimAttempt } from "../../../../shared/http/attempts.ts";
import { createFormToken } from "../../../../shared/http/form_post.ts";
import { askIdentityProvider, type SignedInUser } from "../../../../shared/http/session.ts";
import { Name, Submit, TextField } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../../page_guards.ts";
import { isEmail } from "../../profile/email.ts";
import { confirmationUrl } from "./addresses.ts";

/** The identity provider sends both mails before it responds. */
const MAIL_DEADLINE_MS = 10_000;

export const showAddress = (deps: PageDeps): Handler => signedIn(deps, (c, user) => renderForm(c, deps, { user }));

/** Field `email`. */
export const postAddress = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const to = (form.get("email") ?? "").toLowerCase();
    const { changeAddress: words } = c.get("reader").words;
    if (!isEmail(to)) return await renderForm(c, deps, { user, value: to, error: words.notAnAddress });
    if (to === user.email.toLowerCase()) return await renderForm(c, deps, { user, value: to, error: words.same });
    await claimAttempt(c, deps, { attempt: "address_mail", subject: user.id });
    const emailRedirectTo = await confirmationUrl(deps.config, { from: user.email, to }, deps.clock());
    const { error } = await askIdentityProvider(
      c,
      deps,
      (auth) => auth.updateUser({ email: to }, { emailRedirectTo }),
      MAIL_DEADLINE_MS,
    );
    if (error?.code === "email_address_invalid" || error?.code === "validation_failed") {
      return await renderForm(c, deps, { user, value: to, error: words.notAnAddress });
    }
    if (error && error.code !== "email_exists") {
      throw new AppError("unavailable", "the mails were not sent", { says: ({ noMail }) => noMail, cause: error });
    }
    return await renderSent(c, deps, { user, to });
  });

async function renderForm(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, value = "", error }: { user: SignedInUser; value?: string; error?: string },
): Promise<Response> {
  const { changeAddress: words } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    status: error ? 400 : 200,
    children: (
      <>
        <h1>{words.title}</h1>
        <p class="lead">{words.lead(<Name>{user.email}</Name>)}</p>
        <form method="post" action="/account/email" class="stack">
          <input
            type="hidden"
            name="form_token"
            value={await createFormToken(config, { userId: user.id, at: clock() })}
          />
          <TextField
            name="email"
            label={words.field}
            type="email"
            value={value}
            error={error}
            required
            maxlength={254}
            autocomplete="email"
          />
          <Submit leave={{ href: "/account", words: words.cancel }}>{words.send}</Submit>
        </form>
      </>
    ),
  });
}

function renderSent(
  c: AppContext,
  { config }: PageDeps,
  { user, to }: { user: SignedInUser; to: string },
): Promise<Response> {
  const { changeAddress: words, frame } = c.get("reader").words;
  return renderPage(c, {
    title: words.sentTitle,
    config,
    user,
    children: (
      <>
        <h1>{words.sentTitle}</h1>
        <p class="lead">{words.sent(<Name>{user.email}</Name>, <Name>{to}</Name>)}</p>
        <p class="muted">{words.nothing}</p>
        <p>
          <a href="/account">{frame.goToAccount}</a>
        </p>
      </>
    ),
  });
}
