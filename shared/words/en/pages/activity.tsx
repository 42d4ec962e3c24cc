/** @jsxImportSource hono/jsx */
/** The activity page. */
import type { Child } from "hono/jsx";

/** The subject of an event. */
interface EventDetail {
  access?: string | undefined;
  client_name?: string | null | undefined;
  reason?: string | undefined;
  role?: string | null | undefined;
}

/** Why a grant ended, by reason. */
const ENDED: Readonly<Record<string, string>> = {
  code_replayed: "An app was disconnected: one of its codes was used twice",
  refresh_token_replayed: "An app was disconnected: one of its tokens was used twice, so somebody else may have it",
  revoked_by_client: "An app disconnected itself",
  revoked_by_user: "An app was disconnected",
  too_many: "An app’s older connection ended because it made newer ones",
};

const EVENTS: Readonly<Record<string, string | ((detail: EventDetail) => string)>> = {
  "account.address_changed": "Sign-in address changed",
  "account.country_changed": "Country changed",
  "account.created": "The account was created",
  "account.deletion_asked": "Account marked for deletion",
  "account.deletion_stopped": "Account kept after all",
  "approval.approved": "A change was approved",
  "approval.policy_changed": "The approval rules were changed",
  "approval.refused": "A change was rejected",
  "approval.stale": "A change was approved, but the books had changed since",
  "approval.withdrawn": "A change waiting for approval was withdrawn",
  "books.exported": "The books were exported",
  "calendar.changed": "A calendar was changed",
  "calendar.created": "A calendar address was created",
  "calendar.ended": "A calendar was turned off",
  "grant.created": ({ client_name, access }) =>
    `${client_name ?? "An app"} was connected${access === "read" ? ", to read only" : ""}`,
  "grant.access_changed": ({ client_name, access }) =>
    `${client_name ?? "An app"} ${access === "read" ? "was limited to reading" : "was allowed to read and write"}`,
  "grant.events_allowed": ({ client_name }) => `${client_name ?? "An app"} can receive events again`,
  "grant.events_stopped": ({ client_name }) => `Events to ${client_name ?? "an app"} were stopped`,
  "grant.revoked": ({ reason }) => ENDED[reason ?? ""] ?? "An app’s connection ended",
  "member.invitation_withdrawn": "An invitation was withdrawn",
  "member.invited": ({ role }) => role ? `Somebody was invited as a ${role}` : "Somebody was invited",
  "member.joined": "Joined",
  "member.left": "Left",
  "member.private_changed": "Access to private categories was changed",
  "member.removed": "A member was removed",
  "member.role_changed": ({ role }) => role ? `A member was made a ${role}` : "A member’s role was changed",
  "organization.created": "The organization was created",
  "organization.deletion_asked": "Organization marked for deletion",
  "organization.deletion_stopped": "Organization kept after all",
  "organization.handed_over": "The organization was handed over",
  "organization.handover_declined": "A handover was declined",
  "organization.handover_proposed": "A handover was proposed",
  "organization.handover_withdrawn": "A handover was withdrawn",
  "organization.renamed": "The organization was renamed",
  "provider.connected": "A bill was connected to its provider",
  "provider.paused": "Fetching amounts was paused",
  "provider.reconnected": "A bill was connected to its provider again",
  "provider.refused": "A provider no longer accepts the key of a bill",
  "provider.removed": "A bill’s provider was disconnected",
  "provider.resumed": "Fetching amounts was resumed",
  "reminders.address_confirmed": "Address for reminders confirmed",
  "reminders.address_refused": "A mail server rejected the reminder address",
  "reminders.changed": "Reminders were changed",
  "reminders.mails_chosen": "Email choices were changed",
  "review.created": "Access for a directory’s review was created",
  "review.ended": "Access for a directory’s review was ended",
  "review.signed_in": "A directory’s reviewer signed in",
  "reminders.unsubscribed": "Unsubscribed from emails",
};

export const activity = {
  title: "Activity",
  heading: (organization: Child) => <>Activity in {organization}</>,
  lead: "See every change here, who made it, and through which app.",
  leadUndo: "Undo anything that shouldn’t have happened.",
  changes: "Changes",
  none: "Nothing has been changed yet.",
  noneToWriter: "Changes that you ask your assistant to make show up here.",
  noneFound: "No changes match.",
  emptied: (what: string): string => `Somebody ${what}`,
  automatic: "Automatic",
  formerMember: "A former member",
  onPage: "on this site",
  approvedBy: (who: Child) => <>approved by {who}</>,
  undone: "undone",
  details: "Details",
  undo: "Undo",
  redo: "Redo",
  undoMany: "Undo…",
  older: "Older changes",
  filter: {
    title: "Filter changes",
    text: "Name",
    by: "Person",
    app: "App",
    tool: "Kind of change",
    from: "From",
    to: "To",
    any: "All",
    show: "Show",
    clear: "Show all",
  },
  reads: "What apps read",
  readsAbout: "How often each app looked something up in the last 30 days. We don’t keep what it saw.",
  noReads: "No app has read anything in the last 30 days.",
  readBy: (app: Child, who: Child, count: string, number: number) => (
    <>
      {app} for {who}: {number === 1 ? "once" : `${count} times`}
    </>
  ),
  unnamedApp: "An app",
  formerPerson: "a former member",
  events: "Accounts and apps",
  noEvents: "Nothing has happened to accounts or apps yet.",
  /** An unknown one, from a newer database, appears by its name. */
  event: (event: string, detail: EventDetail): string => {
    const said = EVENTS[event];
    if (event.startsWith("payment.")) return "The plan changed";
    if (said !== undefined) return typeof said === "function" ? said(detail) : said;
    const name = event.replaceAll(".", " ").replaceAll("_", " ");
    return name.slice(0, 1).toUpperCase() + name.slice(1);
  },
  changeTitle: "A change",
  what: "What changed",
  nothing: "There is nothing to show for this change.",
  gone: "This change is more than 30 days old, so its details are gone.",
  undoIt: "Undo this change",
  redoIt: "Redo this change",
  redoRules: "Redoes the whole change, or nothing if any part of it has changed since.",
  undoRules: "Undoes the whole change, or nothing if any part of it has changed since. You can redo it later.",
  seeUndo: "See the undo",
  seeUndone: "See the original change",
  all: "All changes",
  done: "Done. See the changes below.",
  refused: {
    undo_conflict: "Something in it was changed later. Nothing was undone. Undo the later change first:",
    already_undone: "It has already been undone.",
    undo_expired: "It’s more than 30 days old and can no longer be undone.",
    not_found: "This change isn’t here any more.",
    forbidden_role: "Your role doesn’t allow this. Nothing was undone. Ask the owner or a manager.",
    month_closed: "It’s in a closed month. Nothing was undone. The owner or a manager can reopen the month.",
    busy: "Somebody else is writing in these books right now. Nothing was undone. Try again in a moment.",
    no_plan:
      "The plan doesn’t include changes, so nothing was undone. The owner can choose a plan on the account page.",
    too_many_proposals:
      "Too many of your changes are waiting for approval. Nothing was undone. Withdraw some on the approvals page.",
    other: "This can’t be undone right now. Nothing was changed.",
  },
};
