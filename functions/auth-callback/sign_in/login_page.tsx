/** @jsxImportSource hono/jsx */
/** The sign-in pages: the address form, and the page after the mail was sent. */
import type { Config } from "../../../shared/config.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import { withNext } from "../../../shared/next_path.ts";
import { readAskingApp } from "../../../shared/oauth/asking_app.ts";
import { BrowserToken, Buttons, Name, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { DIRECT_HEADER } from "../../../shared/routes.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { OpenPageDeps } from "../page_guards.ts";

export interface LoginView {
  next: string | undefined;
  address?: string;
  error?: string;
}

/** The first form with an email field must be the sign-in form: the embedded stack's scripts look for it. */
export async function renderLogin(
  c: AppContext,
  { config, clock }: OpenPageDeps,
  { next, address, error }: LoginView,
): Promise<Response> {
  const { authProviders, demoEmail, reviewSignIn } = config;
  const localUrl = localUrlFor(c, config);
  const browserToken = await createBrowserToken(c, config);
  const app = await readAskingApp(config.codeSecrets, next, clock());
  const { login: words } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config,
    status: error ? 400 : 200,
    // Our form redirects to the identity provider, which redirects further.
    formAction: authProviders.length > 0 ? [new URL(config.supabaseUrl).origin, "https:"] : [],
    children: (
      <>
        <h1>{words.title}</h1>
        {app && <p class="lead">{words.sentHere(<Name>{app}</Name>)}</p>}
        <p>{words.lead}</p>
        <form method="post" action={withNext("/login", next)} class="stack">
          <BrowserToken token={browserToken} />
          <TextField
            name="email"
            label={words.email}
            type="email"
            error={error}
            value={address}
            required
            autocomplete="email"
            inputmode="email"
            maxlength={254}
            autofocus
          />
          <button class="primary" type="submit">{words.send}</button>
        </form>
        {reviewSignIn && (
          <p>
            <a href={withNext("/review", next)}>{words.review}</a>
          </p>
        )}
        {(authProviders.length > 0 || localUrl) && <p class="or">{words.or}</p>}
        {authProviders.length > 0 && (
          <form method="post" action={withNext("/login", next)}>
            <BrowserToken token={browserToken} />
            <input type="hidden" name="action" value="provider" />
            <Buttons>
              {authProviders.map((provider) => (
                <button type="submit" name="provider" value={provider}>
                  {words.continueWith(providerName(provider))}
                </button>
              ))}
            </Buttons>
          </form>
        )}
        {localUrl && (
          <Buttons>
            {demoEmail && (
              <a class="button" href={withNext(`${localUrl}/sign-in`, next)}>{words.signInAs(demoEmail)}</a>
            )}
            <MailboxLink url={localUrl} words={words} />
          </Buttons>
        )}
      </>
    ),
  });
}

export interface SentView {
  address: string;
  next: string | undefined;
  /** The problem with the typed code. */
  error?: string;
}

export async function renderSent(
  c: AppContext,
  { config }: OpenPageDeps,
  { address, next, error }: SentView,
): Promise<Response> {
  const browserToken = await createBrowserToken(c, config);
  const localUrl = localUrlFor(c, config);
  const { sent: words, login } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config,
    status: error ? 400 : 200,
    children: (
      <>
        <h1>{words.title}</h1>
        <p class="lead">{words.lead(<Name>{address}</Name>)}</p>
        {localUrl && (
          <p>
            <MailboxLink url={localUrl} words={login} to={address} />
          </p>
        )}
        <form method="post" action={withNext("/login", next)} class="stack">
          <BrowserToken token={browserToken} />
          <input type="hidden" name="action" value="code" />
          <TextField
            name="code"
            label={words.code}
            reason={words.codeReason}
            class="code"
            error={error}
            required
            inputmode="numeric"
            autocomplete="one-time-code"
            maxlength={12}
          />
          <button class="primary" type="submit">{words.signIn}</button>
        </form>
        <section>
          <h2>{words.noEmail}</h2>
          <p>{words.patience}</p>
          <p>
            <a href={withNext("/login", next)}>{words.otherAddress}</a>
          </p>
          <form method="post" action={withNext("/login", next)}>
            <BrowserToken token={browserToken} />
            <input type="hidden" name="email" value={address} />
            <button type="submit">{words.again}</button>
          </form>
        </section>
      </>
    ),
  });
}

/** Links to the mailbox only when the machine of the embedded stack itself opened the page. */
const localUrlFor = (c: AppContext, { localUrl }: Pick<Config, "localUrl">): string | undefined =>
  c.req.header(DIRECT_HEADER) ? localUrl : undefined;

function MailboxLink({ url, words, to }: { url: string; words: PageWords["login"]; to?: string }) {
  return (
    <>
      <a href={`${url}/mail${to ? `?${new URLSearchParams({ to })}` : ""}`}>{words.mailbox}</a>{" "}
      <span class="tag">{words.local}</span>
    </>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  azure: "Microsoft",
  github: "GitHub",
  gitlab: "GitLab",
  linkedin_oidc: "LinkedIn",
};
const providerName = (provider: string) =>
  NAMES[provider] ?? provider[0]!.toUpperCase() + provider.slice(1).replaceAll("_", " ");
