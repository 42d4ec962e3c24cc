/** @jsxImportSource hono/jsx */
/** Confirms that a bill is connected, and explains the next steps. */
import type { OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Facts, Name, Notice } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../../shared/pages/tabs.tsx";
import type { PageDeps } from "../../page_guards.ts";
import { providerName } from "./provider_name.ts";

interface ConnectedView {
  user: SignedInUser;
  opened: OpenConnection;
  link: NonNullable<OpenConnection["link"]>;
  /** Last month had no final amount when the credential was tried. */
  isWaiting: boolean;
}

export function renderConnected(
  c: AppContext,
  { config, providers }: PageDeps,
  { user, opened, link, isWaiting }: ConnectedView,
): Promise<Response> {
  const name = providerName(providers, link.provider_key);
  const { providerConnected: words, frame } = c.get("reader").words;
  return renderPage(c, {
    title: words.title(name),
    config,
    user,
    tabs: tabsOf(opened.organization_id, opened.state),
    children: (
      <>
        <h1>{words.heading(<Name>{opened.bill}</Name>, name)}</h1>
        <p class="lead">{words.lead(name)}</p>
        {isWaiting && (
          <Notice>
            <p>{words.waiting}</p>
          </Notice>
        )}
        <Facts
          facts={[
            [words.account, <Name>{link.account_label}</Name>],
            [words.organization, <Name>{opened.organization}</Name>],
            [words.amountNow, words.tellAssistant(<Name>{opened.bill}</Name>)],
          ]}
        />
        <div class="buttons">
          <a class="button primary" href="/account">{frame.goToAccount}</a>
        </div>
      </>
    ),
  });
}
