/** @jsxImportSource hono/jsx */
/** Says that a bill is connected, and what happens from now on. */
import type { OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Facts, Name, Notice } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import type { PageDeps } from "../../page_guards.ts";
import { providerName } from "./provider_name.ts";

interface ConnectedView {
  user: SignedInUser;
  opened: OpenConnection;
  link: NonNullable<OpenConnection["link"]>;
  /** There was no final amount of last month when the credential was tried. */
  isWaiting: boolean;
}

export function renderConnected(
  c: AppContext,
  { config, providers }: PageDeps,
  { user, opened, link, isWaiting }: ConnectedView,
): Promise<Response> {
  const name = providerName(providers, link.provider_key);
  return renderPage(c, {
    title: `Connected to ${name}`,
    config,
    user,
    children: (
      <>
        <h1>
          <Name>{opened.bill}</Name> is connected to {name}
        </h1>
        <p class="lead">
          {name}{" "}
          has accepted it. From now on the amount of each month comes in early in the next one. You can close this page.
        </p>
        {isWaiting && (
          <Notice>
            <p>
              There is no final amount of last month yet. Should there be one, check what you entered: a wrong account
              or address can look the same.
            </p>
          </Notice>
        )}
        <Facts
          facts={[
            ["Account", <Name>{link.account_label}</Name>],
            ["Organization", <Name>{opened.organization}</Name>],
            [
              "To have an amount now",
              <>
                tell your assistant: “fetch the amount of <Name>{opened.bill}</Name>”
              </>,
            ],
          ]}
        />
        <div class="buttons">
          <a class="button primary" href="/account">Go to your account</a>
        </div>
      </>
    ),
  });
}
