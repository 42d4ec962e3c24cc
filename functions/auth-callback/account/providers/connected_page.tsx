/** @jsxImportSource hono/jsx */
/** Says that a bill is connected, and what happens from now on. */
import type { OpenConnection } from "../../../../shared/db/connection_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Facts, Name } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import type { PageDeps } from "../../page_deps.ts";
import { providerName } from "./provider_name.ts";

interface ConnectedView {
  user: SignedInUser;
  opened: OpenConnection;
  link: NonNullable<OpenConnection["link"]>;
}

export function renderConnected(
  c: AppContext,
  { config, providers }: PageDeps,
  { user, opened, link }: ConnectedView,
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
