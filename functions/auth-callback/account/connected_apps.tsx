/** @jsxImportSource hono/jsx */
/** The apps that a person has connected: what each calls itself, how we know it, where it lives, whether it is used. */
import type { Account, ConnectedApp } from "../../../shared/db/identity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { judgeClient } from "../../../shared/oauth/client_trust.ts";
import { judgeRedirectUri } from "../../../shared/oauth/redirect_uri.ts";
import { DateText, Name, Row, TimeText } from "../../../shared/pages/components.tsx";

interface ConnectedAppsView {
  apps: Account["connected_apps"];
  /** The person's own. */
  timezone: string;
  connectorUrl: string;
}

export function ConnectedApps({ apps, timezone, connectorUrl }: ConnectedAppsView) {
  if (apps.length === 0) {
    return (
      <>
        <p>No app is connected yet. Give your assistant this address; it sends you here to allow it.</p>
        <p>
          <code class="copy">{connectorUrl}</code>
        </p>
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
              aria-label={`Disconnect ${appName(app)}`}
            >
              Disconnect
            </a>
          }
        >
          <AppFacts app={app} timezone={timezone} />
        </Row>
      ))}
    </ul>
  );
}

export const appName = (app: ConnectedApp): string => shownClientName(app.client_name);

/** Says to the minute when it was connected: apps can have the same name. */
export function AppFacts({ app, timezone }: { app: ConnectedApp; timezone: string }) {
  return (
    <>
      <h3>
        <Name>{appName(app)}</Name>
      </h3>
      <p>
        {whoMadeIt(app)} · {whereItLives(app.redirect_uri)}
      </p>
      <p class="muted small">
        <Name>{app.organization_name}</Name> · connected <TimeText at={app.created_at} timezone={timezone} /> ·{" "}
        {app.last_used_at
          ? (
            <>
              last used <DateText at={app.last_used_at} />
            </>
          )
          : "never used"}
      </p>
    </>
  );
}

function whoMadeIt(app: ConnectedApp): string {
  const { publisher } = judgeClient({
    clientId: app.client_id,
    name: app.client_name,
    redirectUri: app.redirect_uri,
  });
  switch (publisher.kind) {
    case "verified":
      return `${publisher.app}, by ${publisher.maker} (verified: ${publisher.host})`;
    case "published":
      return `published by ${publisher.host}`;
    case "unconfirmed":
      return "we can’t confirm who made it";
  }
}

function whereItLives(redirectUri: string): string {
  const judged = judgeRedirectUri(redirectUri);
  if (!judged.ok) return "unknown";
  switch (judged.target.kind) {
    case "https":
      return `returns to ${judged.target.host}`;
    case "loopback":
      return `an app on a computer (${judged.target.host})`;
    case "app":
      return `the app that opens ${judged.target.scheme}: links`;
  }
}
