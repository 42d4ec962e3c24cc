/** @jsxImportSource hono/jsx */
/** The account page: organizations and plan, connected apps, bill providers, reminders. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { createUrls } from "../../../shared/urls.ts";
import type { PageDeps } from "../page_guards.ts";
import { Calendars } from "../calendar/calendars.tsx";
import { ConnectedApps } from "./connected_apps.tsx";
import { GrantAlerts } from "./grant_alerts.tsx";
import { Organizations } from "./organizations.tsx";
import { Person } from "./person.tsx";
import { ProviderLinks } from "./provider_links.tsx";
import { OrganizationMails } from "./organization_mails.tsx";
import { ReminderForm } from "./reminders.tsx";

/** What was just done (`?done=` after a redirect), and how it is shown. */
const DONE = {
  moved: "done",
  renamed: "done",
  saved: "done",
  mails: "done",
  confirm: "done",
  not_sent: "warning",
  seen: "done",
  link_paused: "done",
  link_resumed: "done",
  link_removed: "done",
  calendar_with_amounts: "done",
  calendar_without_amounts: "done",
  calendar_ended: "done",
  organization_kept: "done",
  disconnected: "done",
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
  const news = Object.hasOwn(DONE, done ?? "") ? done as Done : undefined;
  const { words, format } = livingIn(c, account.profile.country);
  return renderPage(c, {
    title: words.account.title,
    config,
    user,
    children: (
      <>
        {news && (
          <Notice kind={DONE[news]}>
            <p>{words.account.done[news]}</p>
          </Notice>
        )}
        <h1>{words.account.title}</h1>
        <Person email={user.email} profile={account.profile} token={token} words={words.account} format={format} />
        <GrantAlerts alerts={account.grant_alerts} token={token} words={words.alerts} format={format} />
        <Section title={words.account.organizations}>
          <Organizations
            organizations={account.organizations}
            token={token}
            config={config}
            words={words}
            format={format}
          />
        </Section>
        <Section title={words.account.apps}>
          <ConnectedApps
            apps={account.connected_apps}
            timezone={account.profile.timezone}
            connectorUrl={createUrls(config).resource}
            words={words.apps}
            format={format}
          />
        </Section>
        <Section title={words.account.providers}>
          <ProviderLinks
            links={account.provider_links}
            connectable={account.connectable_bills}
            providers={deps.providers}
            token={token}
            words={words.providerLinks}
            format={format}
          />
        </Section>
        <Section title={words.account.calendars}>
          <Calendars
            organizations={account.organizations}
            token={token}
            words={words.calendars}
            format={format}
          />
        </Section>
        <Section title={words.account.reminders}>
          <OrganizationMails organizations={account.organizations} token={token} words={words.reminders} />
          <ReminderForm
            profile={account.profile}
            organizations={account.organizations}
            token={token}
            words={words.reminders}
            unchosen={words.frame.choose}
          />
        </Section>
        <p class="small">
          <a href="/account/delete">{words.deleteAccount.link}</a>
        </p>
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
