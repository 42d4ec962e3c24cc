/** @jsxImportSource hono/jsx */
/** The pages about an organization's members, invitations, its owner, and further organizations. */
import type { Child } from "hono/jsx";
import { count } from "../phrases.ts";

const ROLES = { owner: "Owner", manager: "Manager", member: "Member", viewer: "Viewer" };

export const members = {
  title: "Members",
  heading: (organization: Child) => <>Members of {organization}</>,
  /** Confirmations after a change. */
  done: {
    invited: "Invited. The link in the email works for seven days.",
    not_sent: "The invitation is saved, but we couldn’t send the email. Send it again in a few minutes.",
    withdrawn: "The invitation is withdrawn. Its link no longer works.",
    role_changed: "The role is changed. It applies from now on, to connected apps too.",
    private_opened: "They can see private categories now.",
    private_closed: "They can no longer see private categories.",
    removed: "Removed. They and their apps can no longer read or change anything here.",
    proposed: "We asked them by email. Until they accept, nothing changes.",
    proposed_unsent: "They can accept on this page. We couldn’t email them, so tell them yourself.",
    handover_ended: "Nothing changes: the owner stays the owner.",
    handed_over: "You’re the owner now.",
  },
  roles: ROLES,
  you: "you",
  privateOpen: "sees private categories",
  changeRole: "Change role",
  changeRoleOf: (address: string): string => `Change role of ${address}`,
  role: "Role",
  save: "Save",
  openPrivate: "Show private categories",
  openPrivateTo: (address: string): string => `Show private categories to ${address}`,
  closePrivate: "Hide private categories",
  closePrivateTo: (address: string): string => `Hide private categories from ${address}`,
  remove: "Remove",
  removeMember: (address: string): string => `Remove ${address}`,
  leave: "Leave",
  invitations: "Waiting to join",
  until: (role: string, day: Child) => <>{role} · can accept until {day}</>,
  expired: (role: string): string => `${role} · the link has expired`,
  resend: "Send again",
  resendTo: (address: string): string => `Send again to ${address}`,
  withdraw: "Withdraw",
  withdrawFrom: (address: string): string => `Withdraw the invitation to ${address}`,
  invite: "Invite somebody",
  address: "Their email address",
  addressReason: "Only a person who signs in with this address can accept.",
  as: "Role",
  choices: {
    manager: {
      title: "Manager",
      detail: "Also sees private categories, changes settings, and invites and removes people",
    },
    member: {
      title: "Member",
      detail: "Sees, adds, changes and deletes expenses and bills, except in private categories",
    },
    viewer: { title: "Viewer", detail: "Sees and exports them, but changes nothing: an accountant, for example" },
  },
  send: "Send invitation",
  needsPlan: "Inviting people needs the Team plan. Existing members stay, whatever the plan.",
  ownerChangesPlan: "Its owner can change the plan.",
  seePlans: "See the plans",
  problems: {
    address: "That’s not an email address. Check it for typos.",
    role: "Choose a role.",
    plan: "Inviting people needs the Team plan.",
    already_member: "They’re already a member.",
    too_many: (most: number): string => `There are ${most} open invitations, the maximum. Withdraw one first.`,
    unsent: "Nothing was sent. Check what’s marked below.",
  },
  ownership: "Ownership",
  handOver: "Hand over to another member",
  handOverReason: "An organization has one owner, who decides about its plan and its members.",
  waitingFor: (address: Child, day: Child) => (
    <>
      You asked {address} to become the owner. They can accept until {day}. Until then nothing changes.
    </>
  ),
  withdrawHandover: "Withdraw",
  becomeOwner: (address: Child, day: Child) => (
    <>
      {address}{" "}
      asks you to become the owner. You’d decide about the plan, the members and deleting the organization, be reminded
      of every bill, and dates would use your time zone. They’d stay as a manager. You can accept until {day}.
    </>
  ),
  accept: "Become the owner",
  decline: "Decline",
};

const them = (leaves: boolean) =>
  leaves
    ? { subject: "You", possessive: "Your", object: "you", are: "you’re" }
    : { subject: "They", possessive: "Their", object: "them", are: "they’re" };

/** @param leaves whether the reader leaves */
export const removal = {
  title: (leaves: boolean): string => leaves ? "Leave an organization" : "Remove a member",
  question: (leaves: boolean, address: Child, organization: Child) =>
    leaves ? <>Leave {organization}?</> : <>Remove {address} from {organization}?</>,
  lead: (leaves: boolean) =>
    `${them(leaves).subject} and ${
      them(leaves).possessive.toLowerCase()
    } apps can no longer read or change anything there. What ${leaves ? "you" : "they"} recorded stays.`,
  ends: "What ends",
  stays: "What stays",
  access: (leaves: boolean, apps: number, hasCalendar: boolean): string =>
    [
      apps > 0
        ? `${them(leaves).possessive} access, ${count(apps, "connected app")}`
        : `${them(leaves).possessive} access`,
      ...(hasCalendar ? ["the calendar address"] : []),
      "and all emails about it",
    ].join(", "),
  assigned: (leaves: boolean, bills: number): string =>
    bills === 1
      ? `One bill is assigned to ${
        them(leaves).object
      }. Afterwards it’s assigned to nobody, and the owner is still reminded of it.`
      : `${count(bills, "bill")} are assigned to ${
        them(leaves).object
      }. Afterwards they’re assigned to nobody, and the owner is still reminded of them.`,
  imports: (leaves: boolean, imports: number): string =>
    imports === 1
      ? `${them(leaves).possessive} import that isn’t added yet is discarded.`
      : `${them(leaves).possessive} ${imports} imports that aren’t added yet are discarded.`,
  invitations: (leaves: boolean, invitations: number): string =>
    invitations === 1
      ? `${them(leaves).possessive} open invitation no longer works.`
      : `${them(leaves).possessive} ${invitations} open invitations no longer work.`,
  /** A proposal of the removed person. @param act "delete 12 expenses" @param page its page */
  waiting: (leaves: boolean, act: string, at: Child, page: string) => (
    <>
      <a href={page}>{leaves ? "Your" : "Their"} change that is waiting for approval</a>, to {act} (asked on{" "}
      {at}), is withdrawn.
    </>
  ),
  open: "Still open for shared costs",
  balance: (
    { leaves, owes, who, amount }: { leaves: boolean; owes: boolean; who: Child | undefined; amount: string },
  ) =>
    owes
      ? <>{them(leaves).subject} owe {who ?? "a former member"} {amount}</>
      : <>{who ?? "A former member"} owes {them(leaves).object} {amount}</>,
  openStays: (leaves: boolean): string =>
    leaves
      ? "This stays open. Settle up first if you can: afterwards only the others can record it."
      : "This stays open. You can settle up first, or record it later under the same address.",
  books: "Expenses, bills and everything else in the books",
  links: (links: number): string =>
    links === 1
      ? "The bill provider stays connected; the owner looks after it."
      : `The ${links} bill providers stay connected; the owner looks after them.`,
  proposals: (proposals: number): string =>
    proposals === 1
      ? "One fetched amount is still waiting for somebody to accept it."
      : `${proposals} fetched amounts are still waiting for somebody to accept them.`,
  yes: (leaves: boolean): string => leaves ? "Leave" : "Remove",
  no: (leaves: boolean): string => leaves ? "Stay" : "Keep them",
};

export const handOver = {
  title: "Hand over an organization",
  question: (organization: Child) => <>Who takes over {organization}?</>,
  lead:
    "They become the owner once they accept, within seven days. Until then, nothing changes, and you can withdraw the offer.",
  then: "They then decide about the members and are reminded of every bill. Dates use their time zone. You stay on " +
    "as a manager. The plan, if there is one, and connected providers stay as they are.",
  who: "New owner",
  ask: "Ask them",
  cancel: "Cancel",
  toMembers: "Go to the members",
  alone: "There’s nobody to hand it over to yet. Invite somebody first.",
  choose: "Choose a member from the list.",
};

export const invitationPage = {
  title: "Invitation",
  heading: (organization: Child) => <>Join {organization}?</>,
  lead: {
    manager: (inviter: Child) => (
      <>
        {inviter} has invited you to join as a manager: you can see and change everything there, and invite others.
      </>
    ),
    member: (inviter: Child) => (
      <>
        {inviter}{" "}
        has invited you to join as a member: you can see the expenses and bills there, and add, change and delete them.
      </>
    ),
    viewer: (inviter: Child) => (
      <>
        {inviter}{" "}
        has invited you to join as a viewer: you can see the expenses and bills there and export them, but change
        nothing.
      </>
    ),
  },
  seen: "The other members see your email address and what you record.",
  /** For visitors who are not signed in. */
  joinsAs: (address: Child) => <>You join as {address}.</>,
  signInFirst: (address: Child) => (
    <>You already have an account as {address}. We’ll email a link there to sign you in, then you can accept.</>
  ),
  accept: "Accept",
  notNow: "Not now",
  unknown: {
    title: "This invitation isn’t valid",
    message: "Its link is incomplete, or a newer email has another one. Use the link in the latest email.",
  },
  ends: {
    used: {
      title: "This invitation was accepted already",
      message: "An invitation works once. To join again, ask for another invitation.",
    },
    withdrawn: {
      title: "This invitation was withdrawn",
      message: "Ask the person who invited you for another one.",
    },
    expired: {
      title: "This invitation has expired",
      message: "It was valid for seven days. Ask the person who invited you to send it again.",
    },
    plan: {
      title: "Nobody can join right now",
      message: "The organization’s plan no longer includes further members. Tell the person who invited you.",
    },
  },
  forAnother: {
    title: "This invitation is for somebody else",
    lead: (invited: Child, own: Child) => (
      <>
        It was sent to {invited}, and you’re signed in as {own}. If both are yours, sign in with the other address.
      </>
    ),
    signIn: "Sign in with another address",
    stay: "Go to your account",
  },
};

export const newOrganization = {
  title: "A new organization",
  lead: "For a household, a business or a project whose expenses are kept apart, with its own members.",
  name: "Name",
  nameReason: "Members see this name, and so do you when you connect an assistant.",
  currency: "Main currency",
  currencyReason: "Totals are shown in this currency. Every expense keeps the currency it was paid in.",
  trial: "It starts with 14 days of everything in the Team plan.",
  noTrial: "It starts on the Free plan: you’ve already used your free trial.",
  create: "Create",
  problems: {
    intro: "Nothing was saved yet. Check what’s marked below.",
    name: "A name must have between 1 and 120 characters.",
    currency: "We don’t know this one. Choose another from the list.",
    tooMany: (most: number): string => `You own ${most} organizations, the maximum.`,
  },
  link: "Create an organization",
  linkAtConsent: "Create another organization",
  first: "You’re not in an organization yet. Create one, or ask somebody to invite you to theirs.",
};
