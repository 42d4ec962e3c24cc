/** @jsxImportSource hono/jsx */
/** The pages that delete an organization or an account. */
import type { Child } from "hono/jsx";

export const deleteOrganization = {
  title: "Delete an organization",
  question: (name: Child) => <>Delete {name}?</>,
  lead: "This deletes it for everyone, including:",
  goes: (members: number): string[] => [
    "all expenses, bills, budgets, categories and imported statements",
    "the connections of all apps, calendars and bill providers",
    ...(members === 0
      ? []
      : [members === 1 ? "the membership of one other person" : `the memberships of ${members} other people`]),
  ],
  grace: "It’s deleted after 14 days. Until then you can cancel here and read everything, but nothing can be " +
    "added or changed, no reminders are sent, and calendars stop. Everyone in it is notified by email.",
  cancelFirst: "Deleting doesn’t cancel the subscription. Cancel that too, so that you aren’t charged again.",
  handOver: "Does someone else want to take over? Hand it over instead",
  typeName: (name: Child) => <>Type its name, {name}, to confirm</>,
  wrongName: "That isn’t its name.",
  yes: "Delete it",
  no: "Keep it",
  goingTitle: (name: Child) => <>{name} is being deleted</>,
  going: (on: Child) => <>Everything in it will be deleted on {on}. Until then nothing in it can be changed.</>,
  ownerTakesBack: "Its owner can stop that until then.",
  takeBack: "Keep it after all",
  back: "Back to your account",
  link: "Delete this organization",
};

export const deleteAccount = {
  title: "Delete your account",
  question: "Delete your account?",
  lead: "All apps you connected lose access, you’re signed out everywhere, and no more emails are sent to you.",
  leaves: "You leave these organizations immediately. What you recorded there stays with them:",
  grace: "After 14 days your address, your settings and your sign-in are deleted. To cancel, sign in before then.",
  typeAddress: (address: Child) => <>Type your address, {address}, to confirm</>,
  wrongAddress: "That isn’t the address you’re signed in with.",
  yes: "Delete my account",
  no: "Keep my account",
  ownsFirst: "Before you can delete your account, hand over or delete the organizations you own.",
  handOver: "Hand over",
  deleteIt: "Delete",
  goingTitle: "Your account is being deleted",
  going: (on: Child) => (
    <>
      It will be deleted on{" "}
      {on}. You have already left the organizations of others. Until you choose to keep your account, you can’t create,
      join or connect anything.
    </>
  ),
  stillDownload: "Until then you can download the books of your organizations:",
  takeBack: "Keep my account",
  doneTitle: "You’re signed out",
  done: (on: Child) => <>Your account will be deleted on {on}. Changed your mind? Sign in before then.</>,
  link: "Delete your account",
};
