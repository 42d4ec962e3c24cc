/** @jsxImportSource hono/jsx */
/** Which provider a bill is to be connected to, where the address does not say, or says one that we do not know. */
import type { OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Name, Notice, Row } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import type { PageDeps } from "../../page_guards.ts";
import { connectPath } from "./addresses.ts";

interface ChooserView {
  user: SignedInUser;
  opened: OpenConnection;
  billId: string;
  /** What the address says, when that is nobody we know. */
  asked: string | undefined;
}

export function renderChooser(
  c: AppContext,
  { config, providers }: PageDeps,
  { user, opened, billId, asked }: ChooserView,
): Promise<Response> {
  return renderPage(c, {
    title: "Connect a bill",
    config,
    user,
    children: (
      <>
        <h1>
          Who sends the bill <Name>{opened.bill}</Name>?
        </h1>
        {asked
          ? (
            <Notice kind="warning">
              <p>
                We cannot ask <Name>{asked.slice(0, 60)}</Name>{" "}
                for amounts. If it has an address that answers with the amount as JSON, choose the last one below;
                otherwise the amount is entered by hand.
              </p>
            </Notice>
          )
          : <p class="lead">Once a month we ask there what the month before has cost.</p>}
        <ul class="rows">
          {[...providers.values()].map(({ key, name, base }) => (
            <Row action={<a href={connectPath(billId, key)} aria-label={`Connect to ${name}`}>Connect</a>}>
              <h2>{name}</h2>
              {!base && (
                <p>Anybody else, or a service of your own, that tells what a month has cost at an address you give.</p>
              )}
              {opened.link?.provider_key === key && (
                <p class="muted small">
                  Connected now: <Name>{opened.link.account_label}</Name>
                </p>
              )}
            </Row>
          ))}
        </ul>
      </>
    ),
  });
}
