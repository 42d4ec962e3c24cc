/** @jsxImportSource hono/jsx */
/** What a person sees of their account: organizations and plan, connected apps, bill providers, reminders. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { PageDeps } from "../page_guards.ts";
import { ConnectedApps } from "./connected_apps.tsx";
import { GrantAlerts } from "./grant_alerts.tsx";
import { Organizations } from "./organizations.tsx";
import { Person } from "./person.tsx";
import { ProviderLinks } from "./provider_links.tsx";
import { EndedReminders, ReminderForm } from "./reminders.tsx";

/** What was just done, as `?done=` says it after a redirect. */
const DONE = {
  moved: { kind: "done", text: "Your country is saved. Currency and time zone are as they were." },
  renamed: { kind: "done", text: "The organization has its new name." },
  saved: { kind: "done", text: "Your reminder settings are saved." },
  resumed: { kind: "done", text: "You will be reminded of that organization's bills again." },
  confirm: {
    kind: "done",
    text: "Saved. We sent a mail to the new address; reminders go there once the link in it was confirmed.",
  },
  not_sent: {
    kind: "warning",
    text: "Saved, but the confirmation mail could not be sent. Save again in a few minutes to have it sent.",
  },
  seen: { kind: "done", text: "Good. We will not mention it again." },
  link_paused: { kind: "done", text: "Paused. No amounts are looked up for that bill until you resume it." },
  link_resumed: { kind: "done", text: "Amounts are looked up for that bill again." },
  link_removed: { kind: "done", text: "The provider is removed, and the key for it is deleted." },
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
        <Person email={user.email} profile={account.profile} token={token} />
        <GrantAlerts alerts={account.grant_alerts} token={token} />
        <Section title="Organization and plan">
          <Organizations organizations={account.organizations} token={token} config={config} />
        </Section>
        <Section title="Connected apps">
          <ConnectedApps
            apps={account.connected_apps}
            timezone={account.profile.timezone}
            connectorUrl={createUrls(config).resource}
          />
        </Section>
        <Section title="Bill providers">
          <ProviderLinks
            links={account.provider_links}
            connectable={account.connectable_bills}
            providers={deps.providers}
            token={token}
          />
        </Section>
        <Section title="Reminders">
          <EndedReminders organizations={account.organizations} token={token} />
          <ReminderForm profile={account.profile} organizations={account.organizations} token={token} />
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
