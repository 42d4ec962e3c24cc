/** @jsxImportSource hono/jsx */
/** The privacy policy and the terms, which the operator's settings complete. */
import type { Child } from "hono/jsx";

export const policies = {
  template: "This page is a template: the operator of this service has not completed it, so it isn’t binding.",
  blank: { name: "[name of the operator]", contact: "[contact]", country: "[country]" },
  privacyTitle: "Privacy",
  termsTitle: "Terms",
  who: "Who is responsible",
  operator: (name: Child, contact: Child, country: Child) => (
    <>
      {name}, {country}, operates this service. Contact: {contact}.
    </>
  ),
  what: "What we store",
  stored: [
    "Your sign-in address, country, time zone and choices for reminders.",
    "The expenses, bills, budgets and notes that you, members of your organization or your apps enter, and the contents of imported files.",
    "Which apps you connected, every change with its author and app, and how often apps read.",
    "Credentials of bill providers, encrypted, if you connect one.",
  ],
  notStored:
    "We store no passwords, no bank logins and no conversations with your assistant. We set only cookies that " +
    "keep you signed in and protect forms, and we neither track you nor sell data.",
  apps: "An app that you connect sees one organization that you choose, and its maker processes what it reads under " +
    "the maker’s own policy. You can disconnect it at any time on your account page.",
  processors: "Who processes data for us",
  hosting: (host: string): string => `Hosting, database and sign-in: ${host}`,
  ownServer: "a server that the operator runs",
  mail: (host: string): string => `Sending emails: ${host}`,
  payments: (host: string): string => `Payments: ${host}`,
  signIn: (services: string): string => `Sign-in, if you choose it: ${services}`,
  providers: "Your bill providers, only those that you connect: we ask them for amounts with your credential.",
  rates: "Sources of exchange rates learn nothing about you.",
  howLong: "How long we keep it",
  untilDeleted: "We keep your books until you delete them. After that, or once something has served its purpose:",
  days: (count: number): string => count === 1 ? "1 day" : `${count} days`,
  hours: (count: number): string => count === 1 ? "1 hour" : `${count} hours`,
  kept: {
    deleted_organizations: "An organization after its deletion was requested",
    deleted_accounts: "An account after its deletion was requested",
    deleted_records: "Deleted expenses, bills and payments",
    documents: "Documents that belong to no expense or bill; others are deleted with theirs",
    change_contents: "The contents of a change, so that it can be undone",
    changes: "Who changed something, when and with which app",
    imports: "Files and rows of an unfinished import",
    invitations: "Invited addresses after the invitation expired",
    tokens: "Tokens of apps after they expired",
    grants: "Connections of apps after they ended",
    attempts: "Traces of attempts to sign in, without addresses",
    digests: "Which reminders were sent",
    proposals: "Changes that waited for approval, after they expired",
    tool_reads: "How often apps read",
    payment_events: "Events of the payment provider",
  } as Record<string, string>,
  audit: "The security log stays, without addresses; an entry loses its details when its subject is deleted. Backups " +
    "keep deleted data until they expire.",
  rights: "Your rights",
  yourRights: "You can read, correct, export and delete your data on this site at any time. For anything else, or to " +
    "complain, write to us. You can also turn to your data protection authority.",
  service: "The service",
  serviceText:
    "It keeps records of expenses and bills and reminds you of dates. It moves no money, pays no bills, and " +
    "gives no financial, tax or legal advice. Check important figures against your own documents.",
  duties: "What we ask of you",
  dutiesText:
    "Enter only data you’re allowed to enter, keep others out of your mailbox, and don’t disrupt the service or " +
    "other people’s use. You are responsible for the apps and people to whom you give access.",
  data: "Your data",
  dataText: "Your data stays yours. You can export it and leave at any time; deletion is final after its grace period.",
  ending: "Ending",
  endingText:
    "We may suspend an account that breaks these terms. If we end the service, we’ll tell you in advance, so that " +
    "you can export your data.",
  law: (country: Child) => <>The law of {country} applies, without limiting your consumer rights where you live.</>,
};
