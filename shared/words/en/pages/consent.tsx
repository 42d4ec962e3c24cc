/** @jsxImportSource hono/jsx */
/** The consent page, and the pages that explain why an app cannot be connected. */
import type { Child } from "hono/jsx";

export const consent = {
  title: (app: string): string => `Connect ${app}`,
  heading: (app: Child) => <>{app} wants to use your expenses</>,
  verified: ({ app, maker, host }: { app: string; maker: string; host: string }): string =>
    `${app}, by ${maker} (verified: ${host})`,
  published: (host: string) => (
    <>
      Published by <strong>{host}</strong>
    </>
  ),
  unconfirmed: "Unverified app",
  which: "Which organization",
  roles: {
    owner: "You’re the owner",
    manager: "You’re a manager",
    member: "You’re a member",
    viewer: "Read only: you’re a viewer",
  },
  /** @param plan "Team plan" */
  membership: (plan: string, role: string): string => `${plan} · ${role}`,
  needsPlan: "Needs the Pro plan",
  seePlan: "see the plan",
  /** Shown if no organization's plan includes assistants. */
  nothingToConnect: {
    trialEnded: (organization: Child) => (
      <>
        The trial of {organization} has ended. Choose a plan to connect an assistant again. Nothing was deleted.
      </>
    ),
    needsPlan: (organization: Child) => (
      <>
        {organization} is on a plan without assistants. Choose one that includes them, then start connecting again.
      </>
    ),
    choosePlan: "Choose a plan",
    seePlan: "See the plan",
  },
  facts: "What it can do",
  canDo: (
    <>
      <strong>See, add, change and delete</strong> expenses, bills, documents and categories
    </>
  ),
  canSettle: (
    <>
      <strong>Settle up</strong> shared costs
    </>
  ),
  canDecide: (
    <>
      <strong>Approve or reject</strong> other people’s proposals
    </>
  ),
  canUndo: (
    <>
      Every change can be <strong>undone for 30 days</strong>
    </>
  ),
  /** Collapsed, because few people need it. */
  also: "What else it can do",
  alsoDo: {
    see: "See the members’ email addresses",
    assign: "Assign bills to members, who then get reminders",
    update: "Update amounts from connected providers",
    mails: "Choose which reminders you get",
    own: "If you own it: change the main currency, your time zone and your reminder emails",
  },
  access: { write: "Read and write", read: "Read only" },
  canRead: (
    <>
      <strong>See and export</strong> expenses, bills and budgets, and see the members’ email addresses
    </>
  ),
  cannotChange: (
    <>
      It <strong>can’t add, change or delete</strong> anything
    </>
  ),
  narrowed: (app: Child) => (
    <>
      Until now, {app} could only read. It can write only if you choose that here.
    </>
  ),
  readOnlyCannot: (
    <>
      It <strong>can’t change anything</strong>, because you’re a viewer in this organization
    </>
  ),
  readOnlySomewhere: (
    <>
      Where you’re a viewer, it can <strong>only read</strong>
    </>
  ),
  cannotDo: (
    <>
      It <strong>can’t sign in as you</strong>, or see your provider credentials or other organizations
    </>
  ),
  sendsTo: (host: string) => (
    <>
      After you choose, we’ll send you back to <strong>{host}</strong>
    </>
  ),
  sendsToComputer: (host: string): string =>
    `After you choose, we’ll send you back to an app on this computer (${host})`,
  opens: (app: string) => (
    <>
      After you choose, we’ll open the app <strong>{app}</strong>
    </>
  ),
  onlyIfStarted: "Allow it only if you started connecting it yourself, on this computer, just now.",
  anyAppCanClaim: (app: string): string =>
    `Any app on this device can claim to be ${app}. Allow it only if you started connecting from that app yourself, just now.`,
  anyAppCanClaimCalled: (app: string, name: Child) => (
    <>
      Any app on this device can claim to be {app}. This one calls itself{" "}
      {name}. Allow it only if you started connecting from that app yourself, just now.
    </>
  ),
  lookAlike: (name: Child) => <>Some letters in {name} look like others, so it may not be the app it seems to be.</>,
  lookAlikeOf: (name: Child, host: string) => (
    <>
      Some letters in {name} look like others, so it may not be the app it seems to be. Allow it only if you know {host}
      {" "}
      and started connecting there.
    </>
  ),
  notOfHost: (name: Child, host: Child) => (
    <>
      It calls itself {name}, but we can’t tell whether {host}{" "}
      belongs to it. Allow it only if you know that address and started connecting there.
    </>
  ),
  forwarded: (host: Child) => (
    <>
      {host}{" "}
      passes our answer on to another app or website, and we can’t see which. Allow it only if you started connecting it
      yourself, just now.
    </>
  ),
  allow: "Allow",
  deny: "Deny",
  signedInAs: (address: string, notYou: (text: string) => Child) => <>Signed in as {address}, {notYou("not you?")}</>,
  disconnectLater: "You can change this or disconnect it at any time under Account.",
};

const FAULTY_LINK = "The app’s request isn’t valid";
const BACK_TO_APP = "Go back to the app and start connecting again. If it happens again, the app needs fixing.";

/** The reason that an app can't be connected, shown if no app can safely receive the error. */
export const consentRefusals = {
  unchanged: "Nothing was connected.",
  startAgain: "Start again",
  reasons: {
    parameter_repeated: { title: FAULTY_LINK, message: `Its link repeats a parameter. ${BACK_TO_APP}` },
    client_id_missing: { title: FAULTY_LINK, message: `Its link doesn’t say which app it is. ${BACK_TO_APP}` },
    unknown_client: {
      title: "We don’t know this app",
      message: "Its registration here no longer exists. Remove this connector in the app and add it again.",
    },
    client_url_not_allowed: { title: FAULTY_LINK, message: `We can’t look up the address it gave. ${BACK_TO_APP}` },
    client_document_unavailable: {
      title: "We couldn’t look this app up",
      message: "The website that describes it isn’t responding. Wait a few minutes, then start " +
        "connecting again from the app.",
    },
    client_document_invalid: {
      title: "We couldn’t look this app up",
      message: "What its website says about it is incomplete or wrong. The makers of the app need to fix it.",
    },
    redirect_uri_missing: {
      title: FAULTY_LINK,
      message: `Its link doesn’t say where to send you afterwards. ${BACK_TO_APP}`,
    },
    redirect_uri_not_allowed: {
      title: "We won’t send you there",
      message: "The link asks us to send you to an address that isn’t safe, so we stopped here.",
    },
    redirect_uri_not_registered: {
      title: "We won’t send you there",
      message: "The link asks us to send you to an address that the app never registered, so we stopped here. " +
        "Remove this connector in the app and add it again.",
    },
    consent_not_ours: {
      title: "That page was incomplete",
      message: "This form is incomplete or didn’t come from our page. Go back to the app and start connecting again.",
    },
    consent_expired: {
      title: "That page had been open too long",
      message: "For your safety, a request to connect an app expires after ten minutes.",
    },
    consent_of_another_person: {
      title: "Somebody else has signed in since",
      message: "The page was shown to a different account than the one that’s signed in now.",
    },
    decision_missing: { title: "That page was incomplete", message: "It didn’t say Allow or Deny." },
    access_missing: { title: "That page was incomplete", message: "It didn’t say whether the app may write." },
    organization_missing: {
      title: "Which organization?",
      message: "Choose the one the app can work in.",
    },
    not_a_member: {
      title: "You’re not a member of that organization",
      message: "Choose another one for the app to work in.",
    },
    feature_not_in_plan: {
      title: "That organization needs the Pro plan",
      message: "AI apps can be connected to organizations on the Pro or Team plan.",
    },
    already_decided: {
      title: "You’ve already answered",
      message: "This request was allowed before. If the app still isn’t connected, connect it again from the app.",
    },
  },
  /** An error that is sent to the app only if the person agrees. @param what the error */
  unasked: {
    title: "This app can’t be connected like this",
    fromHost: (host: string, what: Child) => (
      <>
        An app from {host} sent you here with a request that we can’t answer:{" "}
        {what}. We can report this to the app, which takes you to that address; go only if you know it.
      </>
    ),
    fromDevice: (what: Child) => (
      <>
        An app on this device sent you here with a request that we can’t answer:{" "}
        {what}. We can report this to the app, which takes you back to it; go only if you started connecting it
        yourself.
      </>
    ),
    goTo: (host: string): string => `Go to ${host}`,
    tellApp: "Tell the app",
  },
};
