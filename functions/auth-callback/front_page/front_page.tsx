/** @jsxImportSource hono/jsx */
/**
 * The front page: what this is, the address for an AI client, the sign-in link. Calls neither the identity provider nor
 * the database.
 */
import { hasSession } from "../../../shared/http/session.ts";
import { Buttons } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { Handler, PageDeps } from "../page_guards.ts";

export const showFrontPage = ({ config }: PageDeps): Handler => (c) => {
  const { frontPage: words } = c.get("reader").words;
  return renderPage(c, {
    title: words.title,
    config,
    children: (
      <>
        <h1>{words.heading}</h1>
        <p class="lead">{words.lead}</p>
        <Buttons>
          {hasSession(c, config)
            ? <a class="button primary" href="/account">{words.account}</a>
            : <a class="button primary" href="/login">{words.start}</a>}
        </Buttons>
        <section>
          <h2>{words.say}</h2>
          <ul class="said">{words.examples.map((example) => <li>{example}</li>)}</ul>
        </section>
        <section>
          <h2>{words.connect}</h2>
          <p>{words.connectLead}</p>
          <p>
            <code class="copy">{createUrls(config).resource}</code>
          </p>
        </section>
      </>
    ),
  });
};
