/** @jsxImportSource hono/jsx */
/** The apps a person has connected: name, maker, address and last use. */
import type { Child } from "hono/jsx";
import type { ConnectedApp } from "../../../shared/db/connected_app.ts";
import type { Account } from "../../../shared/db/identity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { judgeClient } from "../../../shared/oauth/client_trust.ts";
import { judgeRedirectUri } from "../../../shared/oauth/redirect_uri.ts";
import { appAccessPath } from "../../../shared/urls.ts";
import { CopyText } from "../../../shared/pages/copy_button.tsx";
import { DateText, Name, Row, TimeText } from "../../../shared/pages/components.tsx";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { Catalog } from "../../../shared/words/page_words.ts";
import { Subscriptions } from "./subscriptions.tsx";

type AppWords = PageWords["apps"];

interface ConnectedAppsView {
  apps: Account["connected_apps"];
  /** The person's time zone. */
  timezone: string;
  connectorUrl: string;
  /** The hidden input that ties a form to the person. */
  token: Child;
  words: Catalog;
  format: PageFormat;
}

export function ConnectedApps(
  { apps, timezone, connectorUrl, token, words: { pages: { apps: words, connecting }, events }, format }:
    ConnectedAppsView,
) {
  if (apps.length === 0) {
    return (
      <>
        <p>{words.none}</p>
        <CopyText text={connectorUrl} words={connecting} />
      </>
    );
  }
  return (
    <ul class="rows">
      {apps.map((app) => (
        <Row
          action={
            <a
              class="quiet danger"
              href={`/account/disconnect?grant=${app.grant_id}`}
              aria-label={words.disconnectApp(appName(app))}
            >
              {words.disconnect}
            </a>
          }
        >
          <AppFacts
            app={app}
            heading={
              <h3>
                <Name>{appName(app)}</Name>
              </h3>
            }
            change={
              <a href={appAccessPath(app.grant_id)} aria-label={words.changeAccessOf(appName(app))}>
                {words.changeAccess}
              </a>
            }
            timezone={timezone}
            words={words}
            format={format}
          />
          <Subscriptions
            app={app}
            appName={appName(app)}
            token={token}
            words={words}
            events={events}
            format={format}
          />
        </Row>
      ))}
    </ul>
  );
}

export const appName = (app: ConnectedApp): string => shownClientName(app.client_name);

/** Shows the time of connection to the minute, because apps can share a name. */
export function AppFacts({ app, heading, change, timezone, words, format }: {
  app: ConnectedApp;
  /** The level of the heading with the app's name. */
  heading: Child;
  /** The link to change the app's access. */
  change?: Child;
  timezone: string;
  words: AppWords;
  format: PageFormat;
}) {
  return (
    <>
      {heading}
      <p>
        {whoMadeIt(app, words)} · {whereItLives(app.redirect_uri, words)}
      </p>
      <p>
        {words.access[app.role_writes ? app.access : "viewer"]}
        {change && <>{" · "}{change}</>}
      </p>
      <p class="muted small">
        {words.connected(
          <Name>{app.organization_name}</Name>,
          <TimeText at={app.created_at} timezone={timezone} format={format} />,
        )} · {app.last_used_at ? words.lastUsed(<DateText at={app.last_used_at} format={format} />) : words.neverUsed}
      </p>
      {app.last_change && (
        <p class="muted small">
          {words.lastChange(
            words.changes[app.last_change.tool as keyof typeof words.changes] ?? words.otherChange,
            <TimeText at={app.last_change.at} timezone={timezone} format={format} />,
          )}
        </p>
      )}
    </>
  );
}

function whoMadeIt(app: ConnectedApp, words: AppWords): string {
  const { publisher } = judgeClient({
    clientId: app.client_id,
    name: app.client_name,
    redirectUri: app.redirect_uri,
  });
  switch (publisher.kind) {
    case "verified": {
      const { app, maker, host } = publisher;
      return words.verified({ app, maker, host });
    }
    case "published":
      return words.published(publisher.host);
    case "unconfirmed":
      return words.unconfirmed;
  }
}

function whereItLives(redirectUri: string, words: AppWords): string {
  const judged = judgeRedirectUri(redirectUri);
  if (!judged.ok) return words.unknownPlace;
  switch (judged.target.kind) {
    case "https":
      return words.returnsTo(judged.target.host);
    case "loopback":
      return words.onComputer(judged.target.host);
    case "app":
      return words.opens(judged.target.scheme);
  }
}
