/** @jsxImportSource hono/jsx */
/** The pages about approvals: rules, waiting proposals, and one proposal. */
import type { Child } from "hono/jsx";

/** The person who proposes, through an app or on a page. */
interface Asking {
  who: Child | null;
  isMine: boolean;
  app: Child | null;
  act: string;
}

/** "Your Claude", "anna@example.com’s Claude", "A former member". */
const asker = ({ who, isMine, app }: Asking) => {
  if (who === null) return <>A former member</>;
  if (app === null) return <>{isMine ? "You" : who}</>;
  return isMine ? <>Your {app}</> : <>{who}’s {app}</>;
};

export const approvalPolicy = {
  title: "Approvals",
  heading: (organization: Child) => <>Approvals in {organization}</>,
  lead: "Changes that need approval wait here. Nothing happens until somebody approves them.",
  leadOfMember: "Changes your apps want to make wait here when they need approval.",
  waiting: "Waiting",
  nothingWaits: "Nothing is waiting for approval.",
  decided: "In the last 30 days",
  until: (day: Child) => <>Waiting until {day}</>,
  states: {
    pending: "Waiting",
    approved: "Approved",
    refused: "Rejected",
    withdrawn: "Withdrawn",
    expired: "Expired",
    stale: "Not done",
  },
  wants: (asking: Asking) => (
    <>
      {asker(asking)} {asking.isMine && asking.app === null ? "want" : "wants"} to {asking.act}
    </>
  ),
  wanted: (asking: Asking) => <>{asker(asking)} wanted to {asking.act}</>,
  rules: "What needs approval",
  none: "Nothing needs approval. Assistants can do whatever the people using them can do.",
  limits:
    "Limits count everything a person changed in the last 24 hours, through all their apps. Amounts are converted. " +
    "An amount without an exchange rate counts as over the limit.",
  ownerChanges: "Only the owner can change this.",
  remove: "Remove",
  removeRule: (rule: string): string => `Remove: ${rule}`,
  add: "Add a rule",
  suggested: "We suggest this one. Change what you like before you add it.",
  what: "Kind of change",
  whatReason: "It doesn’t matter how the assistant does it: importing a file counts as adding expenses.",
  over: (currency: string): string => `Only over this amount, in ${currency}`,
  overReason: "Leave empty to include every amount.",
  records: "Only for more than this many records",
  recordsReason: "Leave empty to include every number. If you fill in both, going over one is enough.",
  whose: "Applies to assistants of",
  roles: { member: "members", manager: "managers", owner: "the owner (you)" },
  approver: "Who approves",
  approvers: {
    manager: { title: "A manager or the owner", detail: "Nobody can approve their own request." },
    owner: { title: "Only the owner", detail: "For changes you want to check yourself." },
  },
  addRule: "Add rule",
  assistants: "Approving through an assistant",
  assistantsAbout: {
    on: "Managers and the owner can also approve by telling their own assistant.",
    off: "Changes are approved with a button on their page. Assistants can’t approve them.",
  },
  turn: { on: "Let assistants approve", off: "Stop assistants from approving" },
  done: {
    added: "The rule is added. It applies from now on.",
    removed: "The rule is removed. Changes already waiting stay in the list.",
    assistants_on: "Managers and the owner can now approve through their assistants.",
    assistants_off: "Assistants can no longer approve changes.",
  },
  problems: {
    intro: "Nothing was added yet. Check what’s marked below.",
    tool: "Choose what needs approval from the list.",
    over: "Write an amount such as 200 or 199.90.",
    records: "Write a whole number from 0 to 50,000.",
    roles: "Choose at least one.",
    tooMany: (most: number): string => `There are ${most} rules, the maximum. Remove one first.`,
  },
};

export const proposal = {
  title: "Approval",
  wants: approvalPolicy.wants,
  wanted: approvalPolicy.wanted,
  in: (organization: Child) => <>In {organization}. Nothing has been changed so far.</>,
  /** After the decision. */
  inDone: (organization: Child) => <>In {organization}.</>,
  what: "What will change",
  whatOf: {
    approved: "What was changed",
    over: "What it would have changed",
  },
  nothing: "There is nothing to show for this change.",
  why: "Why it needs approval",
  facts: {
    by: "Asked by",
    app: "App",
    at: "Asked on",
    until: "Waits until",
    approver: "Can approve",
  },
  formerMember: "a former member",
  aPage: "None (requested on this site)",
  own: "You asked for this yourself. You can approve it because nobody else here can.",
  ownWaits: "You asked for this yourself, so somebody else has to approve it.",
  othersDecide: "You can’t decide this one.",
  approve: "Approve",
  refuse: "Reject",
  withdraw: "Withdraw",
  then: "If you approve, this change is made right away on behalf of the person who asked.",
  states: {
    pending: (until: Child) => <>This is waiting for approval until {until}.</>,
    approved: (by: Child, at: Child) => <>Approved by {by} on {at}. It’s done.</>,
    approvedByAssistant: (by: Child, at: Child) => <>Approved by {by} through their assistant on {at}. It’s done.</>,
    refused: (by: Child, at: Child) => <>Rejected by {by} on {at}. Nothing was changed.</>,
    withdrawn: (at: Child) => <>Withdrawn on {at}. Nothing was changed.</>,
    disconnected: (at: Child) => <>Withdrawn on {at}, when the app that asked lost its access. Nothing was changed.</>,
    left: (who: Child, at: Child) => <>Withdrawn on {at}, when {who} left. Nothing was changed.</>,
    removed: (who: Child, by: Child, at: Child) => <>Withdrawn on {at}, when {by} removed {who}. Nothing was changed.
    </>,
    expired: (at: Child) => (
      <>Nobody had decided by {at}, so it has expired. Nothing was changed. Ask again if it’s still wanted.</>
    ),
    stale: "This was approved, but could not be done. Nothing was changed.",
  },
  /** A stale proposal: the reason and the next step. */
  problems: {
    changed: "The books have changed since it was asked for, so it would do something else now. Ask again for a new " +
      "proposal.",
    failed: "It can’t be done any more, for example because something in it was deleted or its month was closed. Ask " +
      "again if it’s still wanted.",
    proposer: "The person who asked can no longer change the books here. Somebody else can ask for the same change.",
  },
  undo: (change: string) => (
    <>
      Like any change, <a href={change}>it can be undone</a>.
    </>
  ),
  news: {
    already: "Somebody else had already decided, so nothing changed.",
    changed: "The proposal isn’t the one your page showed, so nothing was done. Here is the current one:",
    not_allowed: "You can’t decide this one, so nothing was done.",
  },
  unknown: {
    title: "There’s nothing to approve here",
    message:
      "The link is incomplete, or it’s for somebody else. If you got it by email, sign in with the address it was sent to.",
  },
  all: "All approvals",
};
