/** Error pages: texts by code, and more specific ones for some failures. */
import type { ErrorCode } from "../../../error_codes.ts";
import { count } from "../phrases.ts";

/** The failure, and whether anything changed. */
interface ProblemWords {
  title: string;
  message: string;
  changed?: string;
}

const UNCHANGED = "Nothing was changed.";
const FAILED = "That didn’t work";

const CODES: Record<ErrorCode, ProblemWords> = {
  invalid_request: { title: FAILED, message: "We couldn’t make sense of that request.", changed: UNCHANGED },
  unauthorized: { title: "Sign in first", message: "This page is for people who are signed in.", changed: UNCHANGED },
  forbidden: { title: FAILED, message: "You’re not allowed to do that.", changed: UNCHANGED },
  suspended: {
    title: "This account is suspended",
    message:
      "You can’t use it for now, and neither can the apps you connected. If you think this is a mistake, ask the operator of this service.",
    changed: "Nothing in it was deleted or changed. When the suspension ends, you can sign in as before.",
  },
  not_found: { title: "Page not found", message: "Check the address, or start from the front page." },
  method_not_allowed: { title: FAILED, message: "This page can’t be opened that way.", changed: UNCHANGED },
  request_timeout: {
    title: FAILED,
    message: "Your connection was too slow, so we stopped waiting. Try again.",
    changed: UNCHANGED,
  },
  payload_too_large: { title: FAILED, message: "That’s too long. Shorten it and try again.", changed: UNCHANGED },
  unsupported_media_type: {
    title: FAILED,
    message: "We couldn’t read what was sent. Open the page again and retry.",
    changed: UNCHANGED,
  },
  rate_limited: {
    title: "Wait a moment",
    message: "Too many requests. Try again in a little while.",
    changed: UNCHANGED,
  },
  internal: {
    title: "Something went wrong on our side",
    message: "It wasn’t anything you did. We have a record of what happened.",
    changed: "If you were saving something, your account shows whether it was saved.",
  },
  overloaded: {
    title: "Wait a moment",
    message: "We’re very busy right now. Try again in a few seconds.",
    changed: UNCHANGED,
  },
  // Also shown to people who are not signed in. A write may have succeeded even if its response was lost.
  unavailable: {
    title: "We can’t do that right now",
    message: "Something we depend on isn’t answering. Try again in a few minutes.",
    changed: "If you were saving something, check before trying again.",
  },
};

export const problems = {
  unchanged: UNCHANGED,
  goHome: "Go to the front page",
  signIn: "Sign in",
  signInAsAnother: "Sign in with another account",
  contactSupport: "Contact support",
  tryAgain: "Try again",
  codes: CODES,
};

/** "12 minutes" */
export const wait = (seconds: number): string =>
  seconds < 90 ? count(seconds, "second") : count(Math.ceil(seconds / 60), "minute");

/** Placeholders in files. */
export const fileLabels = { uncategorized: "Uncategorized" };

/** They replace the message of the code. */
export const failures = {
  fileLinkOver: "This link is for somebody else, or it’s more than ten minutes old. Ask your assistant for a new one.",
  fileRefused: "You’re no longer allowed to read these expenses here, so there is no file.",
  fileTooLarge:
    "A file is larger than 10 MB, all together are larger than 25 MB, or there are more than 20. Send fewer at once, scan a large document again with fewer colors, or download a shorter period from your bank.",
  fileBroken: "The file arrived incomplete. Check your connection, then send it again.",
  uploadRefused:
    "You can no longer add files to that organization. Nothing was added, and what we read is deleted within a day.",
  exportEnded: "You can no longer export these books, so there is no file.",
  exportDays: "Choose a first and a last day, the first one not after the last.",
  calendarRefused:
    "We couldn’t make that address: you may have just made one, its plan may not include calendars, or you’re no longer a member. Your account page shows which.",
  noCalendar: "That calendar was turned off. You can get a new address on your account page.",
  databaseDown: "We can’t reach our database right now. Try again in a few minutes.",
  signInServiceDown: "We can’t reach the service that signs people in. Try again in a minute.",
  tooManyRequests: (seconds: number): string => `Too many requests. Try again in ${wait(seconds)}.`,
  tooManyAttempts: (seconds: number): string => `Too many attempts. Try again in ${wait(seconds)}.`,
  manyLookups: "Many apps are being looked up right now. Try again in a minute.",
  otherSite: "That form was sent from another website, so we ignored it.",
  pageTooOld: "That page had been open too long, or somebody else has signed in since.",
  cookiesNeeded: "This page needs cookies, and your browser sent none. Allow them, then try again.",
  pageOutOfDate: "That page is out of date. Open it again, then try once more.",
  noMail: "We couldn’t send email right now. Try again in a few minutes.",
  onlyInvited: "You need an invitation to sign up here. Ask somebody who uses this service to invite your address.",
  methodNotOffered: "We don’t offer that way to sign in.",
  methodDown: "That way to sign in isn’t working right now. Use email instead, or try again in a few minutes.",
  unknownChange: "That change can’t be made on this page.",
  chooseCountry: "Choose a country from the list.",
  notSetUp: "Your account isn’t set up yet. Finish that on your account page first.",
  nameLength: "A name must have between 1 and 120 characters.",
  onlyOwnerDeletes: "Only the owner can delete an organization, or stop its deletion.",
  deletionFinal: "It is too late to keep it: it is being deleted right now.",
  onlyOwnerRenames: "Only the owner can rename an organization.",
  onlyMembersMailed: "Only members get emails about an organization’s bills.",
  unknownTimezone: "We don’t know that time zone.",
  chooseTimezone: "Choose a time zone from the list.",
  reminderAddress: "That reminder address isn’t an email address. Check it for typos.",
  leadDays: "Reminders can come 0 to 90 days before a bill is due.",
  unknownApp: "We don’t know that app. Choose it again on your account page.",
  unknownProvider: "We don’t know that provider. Choose it again on your account page.",
  unknownConnection: "We don’t know that connection. Choose it again on your account page.",
  connectionRemoved: "That connection has been removed. Connect the bill again to carry on.",
  connectionPausedByPlan:
    "That connection is paused because it needs the Team plan. It resumes by itself with that plan.",
  onlyOwnerChanges: "Only the owner of the organization can change that.",
  notTheirs: "You’re not allowed to do that here. Somebody may have changed your role.",
  noMember: "They’re not a member any more.",
  invitationOver: "That invitation was accepted or withdrawn.",
  chooseMember: "Choose a member from the list.",
  invitingNeedsPlan: "Inviting people needs the Team plan.",
  handoverOver: "That was withdrawn, declined or accepted, or it’s more than seven days old.",
  booksBusy: "Somebody is changing these books right now, so nothing was done. Try again in a moment.",
  connectingElsewhere: "Somebody else is connecting the same bill right now. Try again in a minute.",
};
