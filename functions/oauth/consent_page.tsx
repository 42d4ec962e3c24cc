/** @jsxImportSource hono/jsx */
/** The consent page: app, organization, permissions and redirect target. It contains no logic. */
import type { ConsentOrganization, StoredClient } from "../../shared/db/oauth_store.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { createBrowserToken } from "../../shared/http/browser_token.ts";
import type { SignedInUser } from "../../shared/http/session.ts";
import { withNext } from "../../shared/next_path.ts";
import type { Access } from "../../shared/oauth/access.ts";
import { shownClientName } from "../../shared/oauth/client_name.ts";
import { type ClientTrust, judgeClient, type Publisher } from "../../shared/oauth/client_trust.ts";
import type { RedirectTarget } from "../../shared/oauth/redirect_uri.ts";
import { Abilities } from "./abilities.tsx";
import { BrowserToken, Buttons, type Choice, Name, Notice, RadioList } from "../../shared/pages/components.tsx";
import { renderPage } from "../../shared/pages/layout.tsx";
import type { PageWords } from "../../shared/words/page_words.ts";
import type { AuthorizationServer } from "./server.ts";

export interface ConsentPage {
  client: StoredClient;
  target: RedirectTarget;
  redirectUri: string;
  organizations: readonly ConsentOrganization[];
  /** Whether the operator has plans. */
  hasPlans: boolean;
  /** Whether the person has limited this app to reading in some organization. */
  isNarrowed: boolean;
  /**
   * The preselected access. A person's earlier read-only choice stays, because another request must not widen an app's
   * access.
   */
  access: Access;
  user: SignedInUser;
  /** The signed request that this page asks about. */
  token: string;
  /** Path of the request, for the return after switching accounts. */
  path: string;
}

export async function showConsent(
  c: AppContext,
  { config, urls }: AuthorizationServer,
  { client, target, redirectUri, organizations, hasPlans, isNarrowed, access, user, token, path }: ConsentPage,
): Promise<Response> {
  const name = shownClientName(client.client_name);
  const trust = judgeClient({ clientId: client.client_id, name: client.client_name, redirectUri });
  const chosen = organizations.find(({ has_connector }) => has_connector)?.organization_id;
  const browserToken = await createBrowserToken(c, config);
  const { consent: words, plan, newOrganization } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title(name),
    config,
    formAction: formActionOf(target, redirectUri),
    children: (
      <>
        <div class="asking">
          <span class="mark" aria-hidden="true">{monogram(name)}</span>
          <div>
            <h1>{words.heading(<Name>{name}</Name>)}</h1>
            <p class="muted">
              <MadeBy publisher={trust.publisher} words={words} />
            </p>
          </div>
        </div>
        <form class="stack" method="post" action={urls.authorize}>
          <input type="hidden" name="consent" value={token} />
          <RadioList
            name="organization_id"
            legend={words.which}
            choices={organizations.map((organization) =>
              choiceOf(organization, { words, plans: hasPlans ? plan.names : undefined, urls })
            )}
            selected={chosen}
          />
          <p>
            <a href={withNext("/organizations/new", path)}>{newOrganization.linkAtConsent}</a>
          </p>
          {chosen
            ? (
              <>
                {isNarrowed && <Notice>{words.narrowed(<Name>{name}</Name>)}</Notice>}
                <Abilities
                  organizations={organizations}
                  access={access}
                  destination={<Destination target={target} words={words} />}
                  words={words}
                />
                <Caution name={name} target={target} trust={trust} words={words} />
              </>
            )
            : <PlanNeeded organization={organizations[0]!} words={words} />}
          <Buttons even>
            {chosen
              ? <button class="primary" type="submit" name="action" value="approve">{words.allow}</button>
              : <ToPlan organization={organizations[0]!} urls={urls} words={words} />}
            <button type="submit" name="action" value="deny" formnovalidate>{words.deny}</button>
          </Buttons>
          <p class="muted small">
            {words.signedInAs(
              user.email,
              (text) => <button class="link" type="submit" form="switch-user">{text}</button>,
            )}
            <br />
            {words.disconnectLater}
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

type ConsentWords = PageWords["consent"];

/** The first letter of the client's name, because a logo could imitate another app's. */
const monogram = (name: string): string =>
  [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(name.trim())][0]?.segment.toUpperCase() ?? "";

interface PlanNeededView {
  organization: ConsentOrganization;
  words: ConsentWords;
}

/** Why the person can't connect the app to any organization. */
const PlanNeeded = ({ organization: { name, trial_ended_at }, words: { nothingToConnect: words } }: PlanNeededView) => (
  <Notice kind="warning">
    <p>{(trial_ended_at ? words.trialEnded : words.needsPlan)(<Name>{name}</Name>)}</p>
  </Notice>
);

const ToPlan = (
  { organization: { organization_id, role }, urls, words: { nothingToConnect: words } }: PlanNeededView & {
    urls: AuthorizationServer["urls"];
  },
) => (
  <a class="button primary" href={urls.plans(organization_id)}>
    {role === "owner" ? words.choosePlan : words.seePlan}
  </a>
);

/** @param place.plans the plans' names; undefined without plans */
function choiceOf(
  { organization_id, name, plan, role, has_connector }: ConsentOrganization,
  { words, plans, urls }: {
    words: ConsentWords;
    plans: PageWords["plan"]["names"] | undefined;
    urls: AuthorizationServer["urls"];
  },
): Choice {
  return {
    value: organization_id,
    title: <Name>{name}</Name>,
    detail: plans ? words.membership(plans[plan], words.roles[role]) : words.roles[role],
    ...(!has_connector && {
      disabledReason: (
        <>
          {words.needsPlan}, <a href={urls.plans(organization_id)}>{words.seePlan}</a>
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

function Destination({ target, words }: { target: RedirectTarget; words: ConsentWords }) {
  switch (target.kind) {
    case "https":
      return <>{words.sendsTo(target.host)}</>;
    case "loopback":
      return <>{words.sendsToComputer(target.host)}</>;
    case "app":
      return <>{words.opens(appOf(target.scheme))}</>;
  }
}

function MadeBy({ publisher, words }: { publisher: Publisher; words: ConsentWords }) {
  switch (publisher.kind) {
    case "verified": {
      const { app, maker, host } = publisher;
      return <>{words.verified({ app, maker, host })}</>;
    }
    case "published":
      return <>{words.published(publisher.host)}</>;
    case "unconfirmed":
      return <>{words.unconfirmed}</>;
  }
}

interface CautionView {
  name: string;
  trust: ClientTrust;
  words: ConsentWords;
}

/** A warning before the Allow button, if any applies. */
function Caution({ target, ...view }: CautionView & { target: RedirectTarget }) {
  const { name, trust, words } = view;
  switch (target.kind) {
    case "loopback":
      return (
        <>
          <Doubt {...view} />
          <p>{words.onlyIfStarted}</p>
        </>
      );
    case "app": {
      const app = appOf(target.scheme);
      const isCalledOtherwise = trust.doubt === "not_of_host" && !trust.host;
      return (
        <>
          {!isCalledOtherwise && <Doubt {...view} />}
          <Notice kind="warning">
            {isCalledOtherwise ? words.anyAppCanClaimCalled(app, <Name>{name}</Name>) : words.anyAppCanClaim(app)}
          </Notice>
        </>
      );
    }
    case "https":
      return <Doubt {...view} />;
  }
}

function Doubt({ name, trust: { doubt, host }, words }: CautionView) {
  const shown = <Name>{name}</Name>;
  switch (doubt) {
    case null:
      return null;
    case "look_alike":
      return <Notice kind="warning">{host ? words.lookAlikeOf(shown, host) : words.lookAlike(shown)}</Notice>;
    case "not_of_host":
      return <Notice kind="warning">{words.notOfHost(shown, host)}</Notice>;
    case "forwarded":
      return <Notice kind="warning">{words.forwarded(host)}</Notice>;
  }
}

/**
 * CSP sources that the form may lead to. Chromium applies `form-action` to every redirect after a form post, including
 * the client's own (CSP3 §6.4.2), and clients do redirect from their callback to another page or port.
 */
function formActionOf(target: RedirectTarget, redirectUri: string): string[] {
  switch (target.kind) {
    case "https":
      return [new URL(redirectUri).origin, "https:"];
    case "loopback":
      // CSP cannot express an IPv6 address.
      return target.host === "[::1]"
        ? ["http:", "https:"]
        : [new URL(redirectUri).origin, "http://localhost:*", "http://127.0.0.1:*", "https:"];
    case "app":
      return [`${target.scheme}:`];
  }
}
