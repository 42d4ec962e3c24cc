/** @jsxImportSource hono/jsx */
/** The account page: an index, frequent tasks first, deletion last. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Notice } from "../../../shared/pages/components.tsx";
import { COPY_SCRIPT } from "../../../shared/pages/copy_button.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { createUrls } from "../../../shared/urls.ts";
import type { PageDeps } from "../page_guards.ts";
import { Calendars } from "../calendar/calendars.tsx";
import { ConnectedApps } from "./connected_apps.tsx";
import { Endings } from "./endings.tsx";
import { FirstSteps, isNew } from "./first_steps.tsx";
import { GrantAlerts } from "./grant_alerts.tsx";
import { Organizations } from "./organizations.tsx";
import { Person } from "./person.tsx";
import { ProviderLinks } from "./provider_links.tsx";
import { OrganizationMails } from "./organization_mails.tsx";
import { ReminderForm } from "./reminders.tsx";
import { tabsIn } from "./tabs_in.ts";

/** Confirmations of finished actions (`?done=` after a redirect). */
const DONE = {
  moved: "done",
  signed_out_elsewhere: "done",
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
  left: "done",
  created: "done",
  organization_kept: "done",
  access_read: "done",
  access_write: "done",
  events_stopped: "done",
  events_allowed: "done",
  disconnected: "done",
} as const;
export type Done = keyof typeof DONE;

/** A section and its entry in the index. */
interface Part {
  id: string;
  title: string;
  content: Child;
}

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
  const { words, catalog, format } = livingIn(c, account.profile.country);
  const connectorUrl = createUrls(config).resource;
  const wanted = c.req.query("organization");
  const organization = account.organizations.find(({ id }) => id === wanted) ?? account.organizations[0];
  const parts: Part[] = [
    isNew(account.first_steps) && {
      id: "start",
      title: words.firstSteps.title,
      content: <FirstSteps steps={account.first_steps} connectorUrl={connectorUrl} words={words} />,
    },
    {
      id: "organizations",
      title: words.account[account.plans_enabled ? "organizations" : "organizationsOnly"],
      content: (
        <Organizations
          organizations={account.organizations}
          isSold={account.plans_enabled}
          receivesMail={config.inbound !== undefined}
          token={token}
          words={words}
          format={format}
        />
      ),
    },
    // The first step shows the connector's address too.
    (account.connected_apps.length > 0 || account.first_steps.app) && {
      id: "apps",
      title: words.account.apps,
      content: (
        <ConnectedApps
          apps={account.connected_apps}
          timezone={account.profile.timezone}
          connectorUrl={connectorUrl}
          token={token}
          words={catalog}
          format={format}
        />
      ),
    },
    {
      id: "providers",
      title: words.account.providers,
      content: (
        <ProviderLinks
          links={account.provider_links}
          connectable={account.connectable_bills}
          providers={deps.providers}
          token={token}
          words={words.providerLinks}
          format={format}
        />
      ),
    },
    {
      id: "reminders",
      title: words.account.reminders,
      content: (
        <>
          <OrganizationMails organizations={account.organizations} token={token} words={words.reminders} />
          <ReminderForm
            profile={account.profile}
            organizations={account.organizations}
            token={token}
            words={words.reminders}
            unchosen={words.frame.choose}
          />
        </>
      ),
    },
    {
      id: "calendar",
      title: words.account.calendars,
      content: (
        <Calendars
          organizations={account.organizations}
          token={token}
          words={words.calendars}
          format={format}
        />
      ),
    },
    {
      id: "you",
      title: words.person.title,
      content: (
        <Person email={user.email} profile={account.profile} token={token} words={words.person} format={format} />
      ),
    },
    {
      id: "delete",
      title: words.endings.title,
      content: <Endings organizations={account.organizations} words={words.endings} />,
    },
  ].filter((part) => part !== false);
  return renderPage(c, {
    title: words.account.title,
    config,
    user,
    tabs: tabsIn(account, organization, "account"),
    // Shows the connector's address until an app is connected.
    ...(account.connected_apps.length === 0 && { script: COPY_SCRIPT }),
    children: (
      <>
        {news && (
          <Notice kind={DONE[news]}>
            <p>{words.account.done[news]}</p>
          </Notice>
        )}
        <h1>{words.account.title}</h1>
        <GrantAlerts alerts={account.grant_alerts} token={token} words={words.alerts} format={format} />
        <div class="indexed">
          <nav aria-label={words.account.index}>
            <ul class="bare">
              {parts.map(({ id, title }) => (
                <li>
                  <a href={`#${id}`}>{title}</a>
                </li>
              ))}
            </ul>
          </nav>
          <div>
            {parts.map(({ id, title, content }) => (
              <section id={id}>
                <h2>{title}</h2>
                {content}
              </section>
            ))}
          </div>
        </div>
      </>
    ),
  });
}
