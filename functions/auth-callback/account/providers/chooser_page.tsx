/** @jsxImportSource hono/jsx */
/** The choice of a provider, if the URL names none or an unknown one. */
import type { OpenConnection } from "../../../../shared/db/provider_link_store.ts";
import type { AppContext } from "../../../../shared/http/app.ts";
import type { SignedInUser } from "../../../../shared/http/session.ts";
import { Name, Notice, Row } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../../shared/pages/tabs.tsx";
import type { PageDeps } from "../../page_guards.ts";
import { connectPath } from "./addresses.ts";

interface ChooserView {
  user: SignedInUser;
  opened: OpenConnection;
  billId: string;
  /** The unknown provider named in the URL. */
  asked: string | undefined;
}

export function renderChooser(
  c: AppContext,
  { config, providers }: PageDeps,
  { user, opened, billId, asked }: ChooserView,
): Promise<Response> {
  const { chooseProvider: words } = c.get("reader").words;
  return renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(opened.organization_id, opened.state),
    children: (
      <>
        <h1>{words.question(<Name>{opened.bill}</Name>)}</h1>
        {asked
          ? (
            <Notice kind="warning">
              <p>{words.cannotAsk(<Name>{asked.slice(0, 60)}</Name>)}</p>
            </Notice>
          )
          : <p class="lead">{words.lead}</p>}
        <ul class="rows">
          {[...providers.values()].map(({ key, name, base }) => (
            <Row action={<a href={connectPath(billId, key)} aria-label={words.connectTo(name)}>{words.connect}</a>}>
              <h2>{name}</h2>
              {!base && <p>{words.anybody}</p>}
              {opened.link?.provider_key === key && (
                <p class="muted small">{words.connectedNow(<Name>{opened.link.account_label}</Name>)}</p>
              )}
            </Row>
          ))}
        </ul>
      </>
    ),
  });
}
