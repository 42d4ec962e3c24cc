/** @jsxImportSource hono/jsx */
/** The front page: what this is, the address to give to an AI client, the way in. Asks neither the identity provider nor the database. */
import { hasSession } from "../../../shared/http/session.ts";
import { Buttons } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { Handler, PageDeps } from "../page_guards.ts";

export const showFrontPage = ({ config }: PageDeps): Handler => (c) =>
  renderPage(c, {
    title: "Expenses and bills, kept by your assistant",
    config,
    children: (
      <>
        <h1>Your AI assistant keeps your expenses and bills</h1>
        <p class="lead">
          Connect Claude, ChatGPT, Cursor or any other assistant that speaks MCP, and tell it what you spend. It writes
          it down, knows what is due, and undoes what it got wrong.
        </p>
        <Buttons>
          {hasSession(c, config)
            ? <a class="button primary" href="/account">Your account</a>
            : <a class="button primary" href="/login">Sign in or start</a>}
        </Buttons>
        <section>
          <h2>What you can say</h2>
          <ul class="said">
            <li>“Log 14.50 for lunch yesterday.”</li>
            <li>“What is due this week?”</li>
            <li>“Mark the rent paid.”</li>
            <li>“What did I spend on travel this year, compared with last?”</li>
          </ul>
        </section>
        <section>
          <h2>How to connect</h2>
          <p>Give your assistant this address. It sends you here to sign in and to choose what it may use.</p>
          <p>
            <code class="copy">{createUrls(config).resource}</code>
          </p>
        </section>
      </>
    ),
  });
