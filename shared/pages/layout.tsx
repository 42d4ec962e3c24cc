/** @jsxImportSource hono/jsx */
/**
 * The layout and headers of every page. Pages work without scripts; the optional inline script runs under the nonce of
 * its response.
 */
import { Buffer } from "node:buffer";
import type { Child } from "hono/jsx";
import type { Config } from "../config.ts";
import type { AppContext } from "../http/app.ts";
import { createBrowserToken } from "../http/browser_token.ts";
import { PAGE_POLICY_HEADER } from "../routes.ts";
import { BrowserToken } from "./components.tsx";
import { ICON_URL } from "./icon.ts";
import type { Reader } from "../words/reader.ts";
import { STYLES } from "./styles.ts";
import { accountPath, Switcher, TabList, type Tabs } from "./tabs.tsx";

/** Footer links (omitted if absent), and the key that signs the sign-out form. */
export type PageConfig = Pick<Config, "siteUrl" | "codeSecrets" | "supportUrl" | "privacyUrl" | "termsUrl">;

export interface PageOptions {
  /** The page title, for the tab and for screen readers. */
  title: string;
  config: PageConfig;
  /** Shows links to the account and to sign out; absent when nobody is signed in. */
  user?: { email: string } | null;
  /** The organization of the page, for signed-in people. */
  tabs?: Tabs | undefined;
  /** An optional inline script; the page works without it. */
  script?: string;
  /** Allows the script to send requests to this site. */
  asks?: boolean;
  /** The description for search engines and previews; without it the page is noindex. */
  preview?: { description: string; url: string };
  /** Uses two columns on wide screens. */
  isWide?: boolean;
  children: Child;
}

/** The document. Use {@link renderPage}, which adds the nonce and the matching headers. */
export function Page(
  { title, config, tabs, script, preview, isWide, children, nonce, browserToken, reader }: PageOptions & {
    nonce: string;
    browserToken: string | undefined;
    reader: Reader;
  },
) {
  const { frame } = reader.words;
  const footer = [[frame.support, config.supportUrl], [frame.privacy, config.privacyUrl], [
    frame.terms,
    config.termsUrl,
  ]]
    .filter((link): link is [string, string] => link[1] !== undefined);
  return (
    <html lang={reader.language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{frame.title(title)}</title>
        <link rel="icon" href={ICON_URL} />
        {preview && <Preview {...preview} title={frame.title(title)} service={frame.service} />}
        <style nonce={nonce} dangerouslySetInnerHTML={{ __html: STYLES }} />
      </head>
      <body class={[isWide && "wide", tabs && "tabbed"].filter(Boolean).join(" ") || undefined}>
        <a class="skip" href="#main">{frame.skip}</a>
        <header class="bar">
          <div class="column">
            <a class="brand" href="/">{frame.service}</a>
            {browserToken && (
              <>
                {tabs ? <Switcher tabs={tabs} words={reader.words} /> : <a href="/books">{frame.books}</a>}
                <a href={accountPath(tabs)} aria-current={tabs?.current === "account" ? "page" : undefined}>
                  {frame.account}
                </a>
                <form method="post" action="/logout">
                  <BrowserToken token={browserToken} />
                  <button class="link" type="submit">{frame.signOut}</button>
                </form>
              </>
            )}
          </div>
          {browserToken && tabs && <TabList tabs={tabs} words={reader.words} />}
        </header>
        <main id="main" class="page">
          <div class="column">{children}</div>
        </main>
        {footer.length > 0 && (
          <footer class="foot">
            <nav class="column" aria-label={frame.about}>
              {footer.map(([label, href]) => <a href={href}>{label}</a>)}
            </nav>
          </footer>
        )}
        {script && <script nonce={nonce} dangerouslySetInnerHTML={{ __html: script }} />}
      </body>
    </html>
  );
}

function Preview({ title, service, description, url }: Record<"title" | "service" | "description" | "url", string>) {
  const properties = { type: "website", site_name: service, title, description, url };
  return (
    <>
      <meta name="description" content={description} />
      <link rel="canonical" href={url} />
      {Object.entries(properties).map(([name, content]) => <meta property={`og:${name}`} content={content} />)}
      <meta name="twitter:card" content="summary" />
    </>
  );
}

/**
 * Responds with a page.
 * @param options.status 200 if absent
 * @param options.formAction CSP sources that forms may lead to in addition to this site, including redirects (the
 * consent page's client, an identity provider).
 */
export async function renderPage(
  c: AppContext,
  { status = 200, formAction = [], ...page }: PageOptions & { status?: number; formAction?: readonly string[] },
): Promise<Response> {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(page.script ? [`script-src 'nonce-${nonce}'`] : []),
    ...(page.asks ? ["connect-src 'self'"] : []),
    "img-src data:",
    `form-action ${["'self'", ...formAction].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
  const browserToken = page.user ? await createBrowserToken(c, page.config) : undefined;
  const reader = c.get("reader");
  const html = await (<Page {...page} nonce={nonce} browserToken={browserToken} reader={reader} />).toString();
  return new Response(c.req.method === "HEAD" ? null : `<!doctype html>${html}`, {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      [PAGE_POLICY_HEADER]: policy,
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      // Sends no referrer to other sites; older browsers need it to send our forms' `Origin` (Fetch, "append a
      // request Origin header").
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
      ...(!page.preview && { "x-robots-tag": "noindex" }),
    },
  });
}
