/** @jsxImportSource hono/jsx */
/** What a person sees of their account: organizations and plan, connected apps, bill providers, reminders. */
import type { Child } from "hono/jsx";
import type { Account } from "../../shared/db/identity_store.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { createFormToken } from "../../shared/http/form_post.ts";
import type { SignedInUser } from "../../shared/http/session.ts";
import { offText, planText } from "../../shared/identity/plan_text.ts";
import { timezones } from "../../shared/identity/timezone.ts";
import { Buttons, Name, Notice, Row, SelectField, TextField } from "../../shared/pages/components.tsx";
import { renderPage } from "../../shared/pages/layout.tsx";
import { createUrls } from "../../shared/urls.ts";
import { AppFacts, appName } from "./connected_app.tsx";
import type { PageDeps } from "./page_deps.ts";

/** What was just done, as `?done=` says it after a redirect. */
const DONE = {
  renamed: { kind: "done", text: "The organization has its new name." },
  saved: { kind: "done", text: "Your reminder settings are saved." },
  confirm: {
    kind: "done",
    text: "Saved. We sent a mail to the new address; reminders go there once the link in it was confirmed.",
  },
  not_sent: {
    kind: "warning",
    text: "Saved, but the confirmation mail could not be sent. Save again in a few minutes to have it sent.",
  },
  disconnected: { kind: "done", text: "The app is disconnected. It can no longer read or change anything." },
} as const;
export type Done = keyof typeof DONE;

interface AccountView {
  user: SignedInUser;
  account: Account;
  done: string | undefined;
}

export async function renderAccount(
  c: AppContext,
  deps: PageDeps,
  { user, account, done }: AccountView,
): Promise<Response> {
  const { config } = deps;
  const token = (
    <input
      type="hidden"
      name="form_token"
      value={await createFormToken(config, { userId: user.id, at: deps.clock() })}
    />
  );
  const news = Object.hasOwn(DONE, done ?? "") ? DONE[done as Done] : undefined;
  return renderPage(c, {
    title: "Your account",
    config,
    user,
    children: (
      <>
        {news && (
          <Notice kind={news.kind}>
            <p>{news.text}</p>
          </Notice>
        )}
        <h1>Your account</h1>
        <p class="muted">
          Signed in as <Name>{user.email}</Name>
        </p>
        <Section title="Organization and plan">
          <Organizations organizations={account.organizations} token={token} pricingUrl={config.pricingUrl} />
        </Section>
        <Section title="Connected apps">
          <ConnectedApps apps={account.connected_apps} connectorUrl={createUrls(config).resource} />
        </Section>
        <Section title="Bill providers">
          <ProviderLinks links={account.provider_links} />
        </Section>
        <Section title="Reminders">
          <ReminderForm profile={account.profile} token={token} />
        </Section>
      </>
    ),
  });
}

const Section = ({ title, children }: { title: string; children: Child }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
);

function Organizations({ organizations, token, pricingUrl }: {
  organizations: Account["organizations"];
  token: Child;
  pricingUrl: string | undefined;
}) {
  return (
    <ul class="rows">
      {organizations.map((organization) => (
        <li class="row">
          <div>
            <h3>
              <Name>{organization.name}</Name>
            </h3>
            <p>{planText(organization)}</p>
            {organization.features_off.length > 0 && <p>{offText(organization.features_off)}</p>}
            <p class="muted small">
              You are {organization.role === "owner" ? "the owner" : "a member"} · totals in{" "}
              {organization.base_currency}
              {pricingUrl && organization.role === "owner" && (
                <>
                  {" · "}
                  <a href={planUrl(pricingUrl, organization.id)}>See the plans</a>
                </>
              )}
            </p>
          </div>
          {organization.role === "owner" && (
            <details>
              <summary>Rename</summary>
              <form method="post" action="/account">
                {token}
                <input type="hidden" name="action" value="rename" />
                <input type="hidden" name="organization_id" value={organization.id} />
                <label class="hidden" for={`name-${organization.id}`}>New name</label>
                <input
                  id={`name-${organization.id}`}
                  name="name"
                  type="text"
                  value={organization.name}
                  required
                  maxlength={120}
                  dir="auto"
                />
                <button type="submit">Save the name</button>
              </form>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The payment page puts the organization into the notes of the subscription, by which the first payment finds it. */
function planUrl(pricingUrl: string, organizationId: string): string {
  const url = new URL(pricingUrl);
  url.searchParams.set("organization_id", organizationId);
  return url.href;
}

function ConnectedApps({ apps, connectorUrl }: { apps: Account["connected_apps"]; connectorUrl: string }) {
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
          <AppFacts app={app} />
        </Row>
      ))}
    </ul>
  );
}

const LINK_STATUS = {
  pending: "waiting for its first amount",
  active: "working",
  needs_reauth: "the provider no longer accepts the credential",
  paused: "paused",
  paused_by_plan: "paused until a plan pays for it again",
} as const;

function ProviderLinks({ links }: { links: Account["provider_links"] }) {
  if (links.length === 0) return <p>No bill provider is connected. Amounts of variable bills are entered by hand.</p>;
  return (
    <ul class="rows">
      {links.map((link) => (
        <Row>
          <h3>
            <Name>{link.bill}</Name>
          </h3>
          <p>
            {link.provider_key}, <Name>{link.account_label}</Name>: {LINK_STATUS[link.status]}
          </p>
          <p class="muted small">
            <Name>{link.organization}</Name>
            {link.last_success_period && (
              <>
                {" · last amount for "}
                <time datetime={link.last_success_period.slice(0, 7)}>{monthOf(link.last_success_period)}</time>
              </>
            )}
          </p>
        </Row>
      ))}
    </ul>
  );
}

const monthOf = (period: string) =>
  new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(period));

function ReminderForm({ profile, token }: { profile: Account["profile"]; token: Child }) {
  const waits = profile.reminder_email !== null && !profile.reminder_email_confirmed;
  return (
    <form method="post" action="/account" class="stack">
      {token}
      <input type="hidden" name="action" value="reminders" />
      {waits && (
        <Notice kind="warning">
          <p>
            <Name>{profile.reminder_email}</Name> is not confirmed yet. Until then reminders go to{" "}
            <Name>{profile.email}</Name>. Save again to have the link sent once more.
          </p>
        </Notice>
      )}
      <label class="choice">
        <input type="checkbox" name="email_enabled" checked={profile.email_enabled} />
        <span>
          <span class="title">Remind me by e-mail</span>
          <span class="detail">At most one mail a day, with everything that falls due.</span>
        </span>
      </label>
      <TextField
        name="reminder_email"
        label="E-mail for reminders"
        type="email"
        value={profile.reminder_email ?? profile.email}
        required
        maxlength={254}
        autocomplete="email"
      />
      <TextField
        name="default_lead_days"
        label="Days before a bill is due"
        reason="For bills that do not say otherwise."
        type="number"
        class="short"
        value={profile.default_lead_days}
        required
        min={0}
        max={90}
        inputmode="numeric"
      />
      <SelectField
        name="timezone"
        label="Time zone"
        reason="Decides which day it is for you."
        selected={profile.timezone}
        options={timezones(profile.timezone).map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
      />
      <Buttons>
        <button class="primary" type="submit">Save</button>
      </Buttons>
    </form>
  );
}
