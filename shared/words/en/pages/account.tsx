/** @jsxImportSource hono/jsx */
/** The account page and the pages of its actions, except bill providers. */
import type { Child } from "hono/jsx";

export const account = {
  title: "Your account",
  /** The accessible name of the list of sections. */
  index: "Sections of your account",
  organizations: "Organization and plan",
  /** Used while plans are off. */
  organizationsOnly: "Organization",
  apps: "Connected apps",
  providers: "Bill providers",
  calendars: "Calendar",
  reminders: "Reminders",
  /** Confirmations after a change. */
  done: {
    signed_out_elsewhere: "You’re signed out everywhere else. Connected apps stay connected.",
    moved: "Your country is saved. Currency and time zone stay as they were.",
    renamed: "The organization has been renamed.",
    saved: "Your reminder settings are saved.",
    mails: "Your choice of emails about that organization’s bills is saved.",
    confirm: "Saved. We emailed the new address; reminders will go there once you open the link in that email.",
    not_sent: "Saved, but we couldn’t send the confirmation email. Save again in a few minutes to have it sent.",
    seen: "Got it. We won’t mention it again.",
    link_paused: "Paused. No amounts are fetched for that bill until you resume it.",
    link_resumed: "Amounts are fetched for that bill again.",
    link_removed: "The provider is removed, and its key is deleted.",
    calendar_with_amounts: "Your calendar shows amounts the next time your app asks for it.",
    calendar_without_amounts: "Your calendar no longer shows amounts. Apps may keep the old ones until they ask again.",
    calendar_ended: "The calendar is turned off. Its address no longer works.",
    left: "You left. You and your apps can no longer read or change anything there.",
    created: "The organization is created.",
    organization_kept: "The organization stays. Everything works as before.",
    access_read: "The app can now only read.",
    access_write: "The app can now read and write.",
    events_stopped: "No more events are sent to the app.",
    events_allowed: "The app can receive events again.",
    disconnected: "The app is disconnected. It can no longer read or change anything.",
  },
};

export const person = {
  title: "Sign-in and country",
  address: "Sign-in address",
  changeAddress: "Change address",
  country: "Country",
  countryReason: "Controls how dates and amounts are shown.",
  changeCountry: "Change country",
  saveCountry: "Save country",
  elsewhere: "Other browsers",
  elsewhereReason: "Signed in on a computer that isn’t yours, or lost one? Connected apps stay connected.",
  signOutElsewhere: "Sign out everywhere else",
};

export const endings = {
  title: "Delete",
  organization: (name: Child) => <>Delete {name}</>,
  account: "Delete your account",
};

export const organization = {
  owner: (currency: string): string => `You’re the owner · totals in ${currency}`,
  manager: (currency: string): string => `You’re a manager · totals in ${currency}`,
  member: (currency: string): string => `You’re a member · totals in ${currency}`,
  viewer: (currency: string): string => `You can view it · totals in ${currency}`,
  pages: {
    books: "Books",
    members: "Members",
    activity: "Activity",
    approvals: "Approvals",
    export: "Export",
    plan: "Plan",
  },
  choosePlan: "Choose a plan",
  waiting: (changes: number): string =>
    changes === 1 ? "One change is waiting for your approval" : `${changes} changes are waiting for your approval`,
  /** The accessible name of the links. */
  pagesOf: (name: string): string => `Pages of ${name}`,
  create: "Create an organization",
  rename: "Rename",
  renameOf: (name: string): string => `Rename ${name}`,
  newName: "New name",
  saveName: "Save name",
};

export const apps = {
  none: "No app is connected yet. Give your assistant this address. It then sends you here to allow the connection.",
  disconnect: "Disconnect",
  disconnectApp: (app: string): string => `Disconnect ${app}`,
  access: { write: "May read and write", read: "May only read", viewer: "Can only read, as you can there" },
  changeAccess: "Change",
  changeAccessOf: (app: string): string => `Change what ${app} may do`,
  verified: ({ app, maker, host }: { app: string; maker: string; host: string }): string =>
    `${app}, by ${maker} (verified: ${host})`,
  published: (host: string): string => `Published by ${host}`,
  unconfirmed: "Unverified app",
  returnsTo: (host: string): string => `returns to ${host}`,
  onComputer: (host: string): string => `on this computer (${host})`,
  opens: (scheme: string): string => `the app that opens ${scheme}: links`,
  unknownPlace: "unknown",
  connected: (organization: Child, at: Child) => <>{organization} · connected {at}</>,
  lastUsed: (at: Child) => <>last used {at}</>,
  neverUsed: "never used",
  /** @param change one of `changes` */
  lastChange: (change: string, at: Child) => <>Last change: {change}, {at}</>,
  /** By the tool that made the change. */
  changes: {
    log_expenses: "logged expenses",
    update_expenses: "edited expenses",
    delete_records: "deleted records",
    merge_expenses: "merged expenses",
    import_expenses: "imported a statement",
    add_bill: "added a bill",
    update_bill: "edited a bill",
    mark_bill_paid: "marked a bill as paid",
    sync_bill_amounts: "updated amounts from a provider",
    update_settings: "changed settings",
    undo_change: "undid a change",
    settle_up: "settled up",
    decide_proposal: "approved or rejected a proposal",
  },
  otherChange: "changed something",
  /** Titles of events, their destinations and expiry. */
  sent: (titles: string, host: string, until: Child) => (
    <>
      Events sent to {host} until {until}, unless renewed: {titles}
    </>
  ),
  stopEvents: "Stop events",
  stopEventsTo: (app: string): string => `Stop events to ${app}`,
  stopped: "You stopped its events",
  allowEvents: "Allow events",
  allowEventsTo: (app: string): string => `Allow events to ${app}`,
};

export const access = {
  title: "What an app may do",
  question: (app: Child) => <>What may {app} do?</>,
  lead: (organization: Child) => (
    <>
      This applies to the expenses of {organization}, starting with the app’s next request.
    </>
  ),
  legend: "It may",
  choices: {
    write: { title: "Read and write", detail: "Every change can be undone for 30 days." },
    read: { title: "Read only", detail: "It can’t add, change or delete anything. Its open proposals are withdrawn." },
  },
  viewer: "You’re a viewer there, so it can only read until your role changes.",
  save: "Save",
  cancel: "Cancel",
};

export const disconnect = {
  title: "Disconnect an app",
  question: (app: Child) => <>Disconnect {app}?</>,
  lead: (organization: Child) => (
    <>
      It will no longer be able to read or change the expenses of{" "}
      {organization}. Everything it wrote stays. You can connect it again at any time.
    </>
  ),
  yes: "Disconnect",
  no: "Keep it",
};

export const alerts = {
  title: "We disconnected an app to be safe",
  ended: (app: Child, organization: Child, at: Child) => <>{app} in {organization}, on {at}</>,
  what: "Someone reused an old sign-in of this app, so we disconnected it.",
  why: "Usually that’s a fault in the app, but it can mean that somebody copied the sign-in. It no longer works for " +
    "anyone. If you still use the app, connect it again. If you don’t recognize it, ask your assistant to list the " +
    "recent changes and undo what isn’t yours.",
  seen: "Got it",
};

export const reminders = {
  refused: (address: Child) => (
    <>
      {address} rejected our email, so we stopped sending reminders there. Check the address and save to try again.
    </>
  ),
  unconfirmed: (address: Child, meanwhile: Child) => (
    <>
      {address} isn’t confirmed yet. Until then reminders go to {meanwhile}. Save again to get a new link.
    </>
  ),
  noneSent: (organizations: readonly Child[]) => (
    <>No reminders are sent right now: {list(organizations)} {withoutReminders(organizations.length)}</>
  ),
  notAllSent: (organizations: readonly Child[]) => (
    <>Not all reminders are sent: {list(organizations)} {withoutReminders(organizations.length)}</>
  ),
  byEmail: "Remind me by email",
  byEmailDetail: "At most one email a day, with everything that’s due.",
  address: "Email for reminders",
  days: "Days before a bill is due",
  daysReason: "For bills without a reminder setting of their own.",
  timezone: "Time zone",
  timezoneReason: "So that “today” means your today.",
  save: "Save",
  mails: {
    ended: (organization: Child) => <>You get no reminders about {organization}’s bills.</>,
    resume: "Remind me again",
    about: (organization: Child) => <>Emails about {organization}’s bills</>,
    choose: "Which bills",
    choices: { mine: "Bills assigned to me", all: "All bills", none: "None" },
    save: "Save",
  },
};

/** "A", "A and B", "A, B and C", of elements. */
const list = (all: readonly Child[]) =>
  all.map((one, n) => <>{n === 0 ? "" : n === all.length - 1 ? " and " : ", "}{one}</>);

const withoutReminders = (organizations: number): string =>
  `${organizations === 1 ? "is on a plan" : "are on plans"} without reminder emails. ` +
  "Your choices apply again once the plan includes them.";

export const reminderEmail = {
  title: "Reminders to this address",
  question: "Send reminders to this address?",
  lead: (address: Child) => (
    <>
      We’ll send bill reminders to <strong>{address}</strong>, at most one email a day.
    </>
  ),
  yes: "Yes, send them here",
  doneTitle: "Reminders go to this address",
  done: "Reminders will go to this address",
  doneLead: (address: Child) => (
    <>
      The next one goes to <strong>{address}</strong>. You can close this page.
    </>
  ),
  stale: "This link no longer works",
  staleMessage:
    "It’s more than seven days old, or another address was chosen since. To get a new link, save the address again on your account page.",
};
