/** Words of a digest of bills. Dates, amounts and percentages are already formatted for the reader's locale. */

import type { Difference } from "../../message.ts";

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const besideUsual = (usual: Difference | undefined): string =>
  !usual ? "" : usual.share ? `, ${usual.share} ${usual.isLess ? "below" : "above"} usual` : ", as usual";

export const digest = {
  /** The name of the service, at the top. */
  product: "Expenses",

  /** The subject. It shows on locked screens, so it never contains an amount. */
  subject: {
    overdue: ({ name, since, more }: { name: string; since: string; more: number }): string =>
      `Overdue: ${name} (since ${since})${more > 0 ? `, +${more} more` : ""}`,
    /** @param due.when "today", "tomorrow", "Mon, Oct 5". */
    due: ({ name, when }: { name: string; when: string }): string => `Due ${when}: ${name}`,
    dueNow: ({ count, when, names, more }: { count: number; when: string; names: string[]; more: number }): string =>
      `${count} bills due ${when}: ${names.join(", ")}${more > 0 ? `, +${more}` : ""}`,
    dueUntil: (
      { count, until, names, more }: { count: number; until: string; names: string[]; more: number },
    ): string => `${count} bills due by ${until}: ${names.join(", ")}${more > 0 ? `, +${more}` : ""}`,
  },

  /** The headline, one sentence each. */
  headline: {
    overdue: ({ name, since }: { name: string; since: string }): string => `${name} has been overdue since ${since}.`,
    severalOverdue: ({ names }: { names: string }): string => `${names} are overdue.`,
    /** @param due.when "today", "Monday", "October 22". */
    due: ({ names, when, isFirst }: { names: string; when: string; isFirst: boolean }): string =>
      `${isFirst ? `Due ${when}` : capitalized(when)}: ${names}.`,
    later: ({ count, until }: { count: number; until: string }): string => `${count} more by ${until}.`,
    /** The end of a list of names. */
    more: ({ count }: { count: number }): string => `${count} more`,
  },

  headings: { overdue: "Overdue", due: "Due" },

  /** Details of a line beside the name. */
  line: {
    since: ({ date }: { date: string }): string => `since ${date}`,
    dueDates: ({ count }: { count: number }): string => `${count} due dates`,
    paidAutomatically: "paid automatically",
    estimated: "estimated",
    amountUnknown: ({ lastTime }: { lastTime?: string }): string =>
      lastTime ? `amount not known yet, last time ${lastTime}` : "amount not known yet",
    inBaseCurrency: ({ amount }: { amount: string }): string => `about ${amount}`,
    fetched: ({ on, provider, usual }: { on: string; provider: string; usual?: Difference }): string =>
      `from ${provider} on ${on}${besideUsual(usual)}`,
    notTaken: (
      { on, provider, amount, usual }: { on: string; provider: string; amount?: string; usual?: Difference },
    ): string => `${provider} reported ${amount ?? "a different amount"} on ${on}${besideUsual(usual)}: please check`,
    sinceLastTime: ({ amount, share, isLess }: Difference & { amount: string }): string =>
      `${amount} ${isLess ? "less" : "more"} than last time${share ? `, ${isLess ? "down" : "up"} ${share}` : ""}`,
  },
  moreLines: ({ count }: { count: number }): string => `and ${count} more`,
  total: ({ amount, ratesOn }: { amount: string; ratesOn?: string }): string =>
    `Total: ${amount}${ratesOn ? ` (exchange rates of ${ratesOn})` : ""}`,

  /** @param link.organization if there are several. */
  reconnect: ({ name, organization, provider }: { name: string; organization?: string; provider: string }): string =>
    `${name}${
      organization ? ` (${organization})` : ""
    }: ${provider} no longer accepts our key, so we can’t fetch the amount.`,

  /** What to tell the assistant. */
  advice: {
    ask: "Ask your assistant: “What is due this week?”",
    mark: ({ name }: { name: string }): string => `Tell your assistant: “Mark ${name} paid.”`,
    markOrSnooze: ({ name, snoozed, until }: { name: string; snoozed: string; until: string }): string =>
      `Tell your assistant: “Mark ${name} paid” or “Snooze ${snoozed} until ${until}.”`,
  },
  /** Before the link to the account. */
  withoutAssistant: "No assistant at hand?",

  /** Why the mail came. @param owned.organization null if there are several. */
  reason: ({ organization, count }: { organization: string | null; count: number }): string =>
    `You’re getting this email because you own ${
      organization ?? `${count} organizations`
    } and reminders are on. We send at most one a day.`,

  links: {
    reconnect: "Reconnect",
    account: "Open your account",
    settings: "Reminder settings",
    unsubscribe: "Unsubscribe",
  },
};
