/** @jsxImportSource hono/jsx */
/** Connecting bills to providers. */
import type { Child } from "hono/jsx";
import { wait } from "./problems.ts";

export const providerLinks = {
  none:
    "No bill provider is connected. If a bill’s amount changes every time, it can be fetched: tell your assistant " +
    "to add it as a variable bill, then connect it here.",
  state: (provider: string, account: Child, status: string) => <>{provider}, {account}: {status}</>,
  status: {
    pending: "waiting for its first amount",
    active: "working",
    needs_reauth: "not working",
    paused: "paused",
    paused_by_plan: "paused, needs the Team plan",
  },
  billIsOver: "the bill has ended, so nothing is fetched",
  billIsFixed: "the bill has a fixed amount now, so nothing is fetched",
  keyRefused: (provider: string): string =>
    `${provider} no longer accepts our key, so no amounts arrive. Connect it again.`,
  keyRefusedOwner: (provider: string): string =>
    `${provider} no longer accepts our key, so no amounts arrive. The owner has to connect it again.`,
  lastAmount: (month: Child) => <>last amount for {month}</>,
  notConnected: "Not connected: its amount is entered by hand.",
  connect: "Connect",
  connectBill: (bill: string): string => `Connect ${bill}`,
  connectAgain: "Connect again",
  connectBillAgain: (bill: string): string => `Connect again: ${bill}`,
  newKey: "New key",
  newKeyFor: (bill: string): string => `New key for ${bill}`,
  pause: "Pause",
  pauseBill: (bill: string): string => `Pause ${bill}`,
  resume: "Resume",
  resumeBill: (bill: string): string => `Resume ${bill}`,
  remove: "Remove",
  removeFrom: (bill: string): string => `Remove the provider of ${bill}`,
};

export const removeProvider = {
  title: "Remove a bill provider",
  question: (provider: string, bill: Child) => <>Remove {provider} from {bill}?</>,
  lead: (account: Child) => (
    <>
      The key for {account}{" "}
      is deleted here at once, and amounts are entered by hand again. Amounts that have arrived stay. The key still
      exists at the provider: if nothing else needs it, delete it there too.
    </>
  ),
  yes: "Remove",
  no: "Keep it",
};

export const chooseProvider = {
  title: "Connect a bill",
  question: (bill: Child) => <>Choose the provider of {bill}</>,
  cannotAsk: (asked: Child) => (
    <>
      We can’t fetch amounts from {asked}
      . If it has a URL that returns the amount as JSON, choose the last one below; otherwise the amount is entered by
      hand.
    </>
  ),
  lead: "Once a month, we look up what the previous month cost.",
  anybody: "Any other provider, or your own service, at an address you enter.",
  connectedNow: (account: Child) => <>Connected now: {account}</>,
  connect: "Connect",
  connectTo: (provider: string): string => `Connect to ${provider}`,
};

export const connectProvider = {
  title: (provider: string): string => `Connect to ${provider}`,
  heading: (bill: Child, provider: string) => <>Connect {bill} to {provider}</>,
  lookBelow: "Check what’s marked below.",
  nothingSaved: "Nothing was saved, and we don’t keep what was entered. Please enter it again.",
  lead: "At the start of every month we look up what the previous month cost, so nobody has to type it in.",
  replaces: (known: string, account: Child, provider: string) => (
    <>
      This bill is connected to {known} ({account}). Connecting it to {provider}{" "}
      ends that and deletes the key we have for it.
    </>
  ),
  keyRefused: (provider: string, account: Child) => (
    <>
      {provider} no longer accepts the key we have: {account}. The new key replaces it; amounts already fetched stay.
    </>
  ),
  connectedNow: (account: Child) => (
    <>Connected now: {account}. The new key replaces it; amounts already fetched stay.</>
  ),
  submit: "Test and connect",
  cancel: "Cancel",
  example: "Example",
  exampleLead: "For September 2026 we ask, and your server answers:",
  whatWeDo: "What we do with it",
  weTry: (provider: string): string => `We test it once, now. We keep it only if ${provider} accepts it.`,
  weTryServer: "We test it once, now. We keep it only if the server accepts it.",
  weUse: "We use it only to read what was charged for this bill.",
  weKeep: "It is kept encrypted. Nobody can look at it again: not you, not other members, not your assistant.",
  weDelete: "It is deleted when you remove the connection under Account.",
  whose: (organization: Child, address: Child) => <>The bill is in {organization}, and you’re signed in as {address}.
  </>,
  chooseAnother: "Choose another provider",
  incomplete: "That key looks incomplete. Copy it again.",
  notAValue: "That doesn’t look right. Check it for typos.",
  missing: "Fill this in.",
};

/** The result of trying a provider; undefined for a server at a URL that a person typed. */
type Whom = string | undefined;
const whom = (provider: Whom): string => provider ?? "The server at this address";

export const trials = {
  refused: (provider: Whom): string =>
    `${
      whom(provider)
    } doesn’t accept what you entered. It may be mistyped or expired, or not allowed to read what was charged.`,
  busy: (provider: Whom, seconds: number | undefined): string =>
    `${whom(provider)} got too many requests and asks us to wait. ${
      seconds ? `Try again in ${wait(seconds)}.` : "Try again later."
    }`,
  slow: (provider: Whom): string => `${whom(provider)} didn’t answer in time. Try again in a few minutes.`,
  unreachable: (provider: Whom): string => `${whom(provider)} can’t be reached right now. Try again in a few minutes.`,
  unreadable: (provider: string): string =>
    `We don’t understand the response from ${provider}, so its amounts can’t be fetched for now.`,
  notAsDescribed: "The response from that address doesn’t match the example below.",
  defect: "Something went wrong on our side. It wasn’t anything you did.",
};

export const providerConnected = {
  title: (provider: string): string => `Connected to ${provider}`,
  heading: (bill: Child, provider: string) => <>{bill} is connected to {provider}</>,
  lead: (provider: string): string =>
    `${provider} accepted what you entered. From now on, each month’s amount arrives early in the next month. You can close this page.`,
  waiting:
    "There is no final amount for last month yet. If there should be one, check what you entered: a wrong account " +
    "or address can look the same.",
  account: "Account",
  organization: "Organization",
  amountNow: "Next step",
  tellAssistant: (bill: Child) => <>To get an amount now, tell your assistant: “Fetch the amount of {bill}.”</>,
};

export const connectRefusals = {
  unknownBill: {
    title: "We don’t know that bill",
    message: "It may have been deleted, or it belongs to an organization you’re not in, or you’re signed in with " +
      "another address. Ask your assistant for a new link.",
  },
  notOwner: {
    title: "Only the owner can connect a bill",
    message: (bill: Child, organization: Child, owner: Child) => (
      <>
        The owner of {organization} is {owner}. Send them the address of this page so that they can connect {bill}.
      </>
    ),
  },
  ended: {
    title: "This bill has ended",
    message: (bill: Child) => <>{bill} has no more due dates, so there is no amount to look up.</>,
  },
  notVariable: {
    title: "This bill has a fixed amount",
    message: (bill: Child) => (
      <>
        There is nothing to fetch for{" "}
        {bill}. If its amount changes, tell your assistant to make it variable, then open this page again.
      </>
    ),
  },
  notInPlan: {
    title: "The plan doesn’t include this",
    message: (bill: Child, organization: Child) => (
      <>
        Fetching amounts needs the Team plan. Until {organization} is on it, enter the amount of {bill} by hand.
      </>
    ),
    seePlans: "See the plans",
  },
};

/** The fields of the connect page, by provider and field: label, source of the value, required permissions. */
export const credentials = {
  anthropic: {
    api_key: {
      label: "Admin API key",
      hint: "An organization admin creates it at platform.claude.com → Settings → Admin keys. Keys for calling " +
        "models don’t work, and Priority Tier costs are not included.",
    },
  },
  digitalocean: {
    token: {
      label: "Personal access token",
      hint:
        "Create it at cloud.digitalocean.com → API → Tokens, with custom scopes and only billing:read, in the team " +
        "that gets the invoices.",
    },
  },
  github: {
    account: {
      label: "Organization",
      hint: "Its name as in github.com/name. For a personal account, enter users/name.",
    },
    token: {
      label: "Fine-grained personal access token",
      hint:
        "Create it at github.com → Settings → Developer settings, with the organization as resource owner and the " +
        "organization permission Administration: read; for a personal account with the account permission Plan: read.",
    },
  },
  http_json: {
    url: { label: "Address", hint: "HTTPS URL returning JSON. See the example below." },
    token: {
      label: "Token",
      hint: "Sent to that address as Authorization: Bearer. It only needs to be able to read the amount.",
    },
  },
  openai: {
    api_key: {
      label: "Admin key",
      hint: "An organization owner creates it at platform.openai.com → Settings → Organization → Admin keys. It " +
        "only needs to be able to read usage.",
    },
  },
  vercel: {
    team_id: { label: "Team ID", hint: "At vercel.com → team → Settings → General; it begins with team_." },
    token: {
      label: "Access token",
      hint:
        "Create it at vercel.com → Account Settings → Tokens, with the team as its scope. Your role there must be able " +
        "to see billing.",
    },
  },
};
