/** @jsxImportSource hono/jsx */
/** The consent page: who asks, for which organization, what it may do, where it leads. The order and words are design decisions; it decides nothing. */
import type { ConsentOrganization, StoredClient } from "../../shared/db/oauth_store.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { createBrowserToken } from "../../shared/http/browser_token.ts";
import type { SignedInUser } from "../../shared/http/session.ts";
import { shownClientName } from "../../shared/oauth/client_name.ts";
import { type ClientTrust, judgeClient, type Publisher } from "../../shared/oauth/client_trust.ts";
import type { RedirectTarget } from "../../shared/oauth/redirect_uri.ts";
import { BrowserToken, Buttons, type Choice, Facts, Name, Notice, RadioList } from "../../shared/pages/components.tsx";
import { renderPage } from "../../shared/pages/layout.tsx";
import type { AuthorizationServer } from "./server.ts";

export interface ConsentPage {
  client: StoredClient;
  target: RedirectTarget;
  redirectUri: string;
  organizations: readonly ConsentOrganization[];
  user: SignedInUser;
  /** Signed statement of what this page asks. */
  token: string;
  /** Path of the request, to come back to as somebody else. */
  path: string;
}

export async function showConsent(
  c: AppContext,
  { config, urls }: AuthorizationServer,
  { client, target, redirectUri, organizations, user, token, path }: ConsentPage,
): Promise<Response> {
  const name = shownClientName(client.client_name);
  const trust = judgeClient({ clientId: client.client_id, name: client.client_name, redirectUri });
  const chosen = organizations.find(({ has_connector }) => has_connector)?.organization_id;
  const browserToken = await createBrowserToken(c, config);
  return await renderPage(c, {
    title: `Connect ${name}`,
    config,
    formAction: formActionOf(target, redirectUri),
    children: (
      <>
        <h1>
          <Name>{name}</Name> wants to use your expenses
        </h1>
        <p class="muted">
          <MadeBy publisher={trust.publisher} />
        </p>
        <form class="stack" method="post" action={urls.authorize}>
          <input type="hidden" name="consent" value={token} />
          <RadioList
            name="organization_id"
            legend="Which organization"
            choices={organizations.map((organization) =>
              choiceOf(organization, { urls, isSold: config.pricingUrl !== undefined })
            )}
            selected={chosen}
          />
          <Facts
            facts={[
              ["It can", "see, add, change and delete expenses, bills and categories, and undo it"],
              ["Also", "see the members’ e-mail addresses, and update amounts from connected providers"],
              ...(organizations.some(({ role }) => role === "owner") ? [OF_OWNERS] : []),
              ["It cannot", "sign in as you, or see your provider credentials or other organizations"],
              ["Then it", <Destination target={target} />],
            ]}
          />
          <Caution name={name} target={target} trust={trust} />
          <Buttons even>
            <button class="primary" type="submit" name="action" value="approve" disabled={!chosen}>Allow</button>
            <button type="submit" name="action" value="deny" formnovalidate>Deny</button>
          </Buttons>
          <p class="muted small">
            Signed in as {user.email}, <button class="link" type="submit" form="switch-user">not you?</button>
            <br />
            You can disconnect it at any time under Account.
          </p>
        </form>
        <form id="switch-user" method="post" action="/logout">
          <BrowserToken token={browserToken} />
          <input type="hidden" name="next" value={path} />
        </form>
      </>
    ),
  });
}

/** What the tool update_settings changes for owners only. */
const OF_OWNERS = [
  "If you own it",
  "change the main currency, your time zone and your reminder mails",
] as const;

const PLANS = { free: "Free plan", pro: "Pro plan", team: "Team plan" };
const ROLES = { owner: "you are the owner", member: "you are a member" };

/** @param place.isSold whether there is a page that sells plans; else the account says who can change them. */
function choiceOf(
  { organization_id, name, plan, role, has_connector }: ConsentOrganization,
  { urls, isSold }: { urls: AuthorizationServer["urls"]; isSold: boolean },
): Choice {
  return {
    value: organization_id,
    title: <Name>{name}</Name>,
    detail: `${PLANS[plan]}, ${ROLES[role]}`,
    ...(!has_connector && {
      disabledReason: (
        <>
          needs the Pro plan, <a href={urls.plans(organization_id)}>{isSold ? "see plans" : "see your account"}</a>
        </>
      ),
    }),
  };
}

const APPS: Readonly<Record<string, string>> = {
  "cursor": "Cursor",
  "vscode": "Visual Studio Code",
  "vscode-insiders": "Visual Studio Code Insiders",
};
const appOf = (scheme: string) => APPS[scheme] ?? scheme;

function Destination({ target }: { target: RedirectTarget }) {
  switch (target.kind) {
    case "https":
      return (
        <>
          sends you back to <strong>{target.host}</strong>
        </>
      );
    case "loopback":
      return <>sends you back to an app on this computer ({target.host})</>;
    case "app":
      return (
        <>
          opens the app <strong>{appOf(target.scheme)}</strong>
        </>
      );
  }
}

function MadeBy({ publisher }: { publisher: Publisher }) {
  switch (publisher.kind) {
    case "verified":
      return <>{publisher.app}, by {publisher.maker} (verified: {publisher.host})</>;
    case "published":
      return (
        <>
          Published by <strong>{publisher.host}</strong>
        </>
      );
    case "unconfirmed":
      return <>We can’t confirm who made this app</>;
  }
}

/** What to think about before pressing Allow, when there is something. */
function Caution({ name, target, trust }: { name: string; target: RedirectTarget; trust: ClientTrust }) {
  switch (target.kind) {
    case "loopback":
      return (
        <>
          <Doubt name={name} trust={trust} />
          <p>Allow it only if you started connecting it yourself, on this computer, just now.</p>
        </>
      );
    case "app": {
      const isCalledOtherwise = trust.doubt === "not_of_host" && !trust.host;
      return (
        <>
          {!isCalledOtherwise && <Doubt name={name} trust={trust} />}
          <Notice kind="warning">
            Any app on this device can claim to be {appOf(target.scheme)}. {isCalledOtherwise && (
              <>
                And this one calls itself <Name>{name}</Name>.{" "}
              </>
            )}
            Allow it only if you started connecting it there yourself, just now.
          </Notice>
        </>
      );
    }
    case "https":
      return <Doubt name={name} trust={trust} />;
  }
}

function Doubt({ name, trust: { doubt, host } }: { name: string; trust: ClientTrust }) {
  switch (doubt) {
    case null:
      return null;
    case "look_alike":
      return (
        <Notice kind="warning">
          Some letters in <Name>{name}</Name> look like others, so it may not be the app that it seems to be.
          {host && <>{" "}Allow it only if you know {host} and started connecting there.</>}
        </Notice>
      );
    case "not_of_host":
      return (
        <Notice kind="warning">
          It calls itself <Name>{name}</Name>, but we can’t tell whether {host}{" "}
          belongs to it. Allow it only if you know that address and started connecting there.
        </Notice>
      );
    case "forwarded":
      return (
        <Notice kind="warning">
          {host}{" "}
          hands our answer on to another app or website, and we can’t see which. Allow it only if you started connecting
          it yourself, just now.
        </Notice>
      );
  }
}

/**
 * Where the form may lead. Chromium holds every redirect that follows a form to `form-action`, the client's own next hop
 * included (CSP3 §6.4.2), and clients do send people on: from their callback to a page of theirs, or to their other port.
 */
function formActionOf(target: RedirectTarget, redirectUri: string): string[] {
  switch (target.kind) {
    case "https":
      return [new URL(redirectUri).origin, "https:"];
    case "loopback":
      // CSP has no way to write an IPv6 address.
      return target.host === "[::1]"
        ? ["http:", "https:"]
        : [new URL(redirectUri).origin, "http://localhost:*", "http://127.0.0.1:*", "https:"];
    case "app":
      return [`${target.scheme}:`];
  }
}
