/** Words of a digest of bills. Dates, amounts and percentages are already formatted for the reader's locale. */

import type { Difference } from "../../message.ts";

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
/** Names stay as they are. */
const sentence = (text: string): string => text.replace(/^the /, "The ");
const besideUsual = (usual: Difference | undefined): string =>
  !usual ? "" : usual.share ? `, ${usual.share} ${usual.isLess ? "below" : "above"} usual` : ", as usual";

interface Named {
  names: string[];
  more: number;
}
interface NamedDay {
  name: string;
  when: string;
}
interface Rhythm {
  frequency: "once" | "daily" | "weekly" | "monthly" | "yearly";
  every: number;
}

const listed = ({ names, more }: Named): string => `${names.join(", ")}${more > 0 ? `, +${more} more` : ""}`;
const besidesOverdue = (count: number): string => count > 0 ? ` (+${count} overdue)` : "";

/** What a subject and a headline both say. */
const comingUp = {
  trial: ({ name, when }: NamedDay): string => `the trial of ${name} ends ${when}`,
  cancel_by: ({ name, when }: NamedDay): string => `the last day to cancel ${name} is ${when}`,
  renewal: ({ name, when, isContract }: NamedDay & { isContract: boolean }): string =>
    isContract ? `${name} renews ${when}` : `the yearly bill ${name} is due again ${when}`,
  price_rise: ({ name, when }: NamedDay): string => `${name} costs more from ${when}`,
  awaited: ({ name, when }: NamedDay): string => `the amount of ${name}, due ${when}, is missing`,
};

interface Used {
  name: string | null;
  isUsedUp: boolean;
  per: "month" | "year";
}
/** @param budget.name null for all spending */
const usedBudget = ({ name, isUsedUp, per }: Used): string =>
  `the ${per}’s budget${name === null ? "" : ` for ${name}`} is ${isUsedUp ? "used up" : "almost used up"}`;

const UNITS = { daily: "day", weekly: "week", monthly: "month", yearly: "year" };
/** " a month", " every 2 weeks"; nothing for what is paid once. */
const rhythm = ({ frequency, every }: Rhythm): string =>
  frequency === "once" ? "" : every === 1 ? ` a ${UNITS[frequency]}` : ` every ${every} ${UNITS[frequency]}s`;
const term = (years: number): string => years === 1 ? "another year" : `another ${years} years`;

export const digest = {
  /** The name of the service, at the top. */
  product: "Expenses",

  /** The subject. It shows on locked screens, so it never contains an amount. `when` is "today", "Mon, Oct 5". */
  subject: {
    overdue: ({ name, since }: { name: string; since: string }): string => `Overdue: ${name} (since ${since})`,
    severalOverdue: ({ count, names, more }: { count: number } & Named): string =>
      `${count} bills overdue: ${listed({ names, more })}`,
    due: ({ name, when, overdue }: { name: string; when: string; overdue: number }): string =>
      `Due ${when}: ${name}${besidesOverdue(overdue)}`,
    dueNow: ({ count, when, overdue, ...named }: { count: number; when: string; overdue: number } & Named): string =>
      `${count} bills due ${when}: ${listed(named)}${besidesOverdue(overdue)}`,
    dueUntil: (
      { count, until, overdue, ...named }: { count: number; until: string; overdue: number } & Named,
    ): string => `${count} bills due by ${until}: ${listed(named)}${besidesOverdue(overdue)}`,

    /** Bills and other dates together, the first ones. */
    several: ({ parts, more, overdue }: { parts: string[]; more: number; overdue: number }): string =>
      `${sentence(parts.join("; "))}${more > 0 ? `; +${more} more` : ""}${besidesOverdue(overdue)}`,
    part: {
      due: ({ name, when }: NamedDay): string => `${name} is due ${when}`,
      ...comingUp,
      budget: usedBudget,
    },
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
    trial: (day: NamedDay): string => `${sentence(comingUp.trial(day))}.`,
    cancel_by: (day: NamedDay): string => `${sentence(comingUp.cancel_by(day))}.`,
    renewal: (day: NamedDay & { isContract: boolean }): string => `${sentence(comingUp.renewal(day))}.`,
    price_rise: (day: NamedDay): string => `${comingUp.price_rise(day)}.`,
    awaited: (day: NamedDay): string => `${sentence(comingUp.awaited(day))}.`,
    budget: (used: Used): string => `${sentence(usedBudget(used))}.`,
    moreBelow: ({ count }: { count: number }): string => `${count} more below.`,
  },

  headings: {
    overdue: "Overdue",
    due: "Due",
    awaited: "Waiting for an amount",
    notices: "Coming up",
    budgets: "Budgets",
    balances: "Shared costs",
  },

  /** Details of a line beside the name. */
  line: {
    since: ({ date }: { date: string }): string => `since ${date}`,
    dueDates: ({ count }: { count: number }): string => `${count} due dates`,
    paidAutomatically: "paid automatically",
    assignedTo: ({ name }: { name: string }): string => `assigned to ${name}`,
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
  /** What a line of what is coming up is about, beside its date. Amounts are left out when unknown or hidden. */
  notice: {
    trial: ({ amount, ...often }: { amount?: string } & Rhythm): string =>
      `the trial ends${amount ? `, then it costs ${amount}${rhythm(often)}` : ""}`,
    cancel_by: ({ amount, renewsOn, years }: { amount?: string; renewsOn: string; years: number }): string =>
      `last day to cancel, or it renews on ${renewsOn} for ${term(years)}${amount ? `, which costs ${amount}` : ""}`,
    renewal: ({ amount, years, isContract }: { amount?: string; years: number; isContract: boolean }): string =>
      `${isContract ? `renews for ${term(years)}` : `due again after ${years === 1 ? "a year" : `${years} years`}`}${
        amount ? `: ${amount}` : ""
      }`,
    price_rise: ({ amounts }: { amounts?: { old: string; new: string; share?: string } }): string =>
      amounts
        ? `the price goes from ${amounts.old} to ${amounts.new}${amounts.share ? `, up ${amounts.share}` : ""}`
        : "the price goes up",
    awaited: "paid automatically, not in your totals until its amount is known",
  },
  /** What is used of a budget, after its name; amounts are left out when hidden, the percentage when none is left. */
  budget: {
    all: "All spending",
    used: ({ spent, available, percent, per, isOver, isPartial }: {
      spent?: string;
      available?: string;
      percent?: string;
      per: "month" | "year";
      isOver: boolean;
      isPartial: boolean;
    }): string => {
      const when = `${isOver ? "last" : "this"} ${per}`;
      const used = percent === undefined
        ? `${spent ? `${spent} spent ${when}, ` : ""}already used up before`
        : spent === undefined || available === undefined
        ? `${percent} used ${when}`
        : `${spent} of ${available} ${when} (${percent})`;
      return `${used}${isPartial ? ", not counting payments without an exchange rate" : ""}`;
    },
  },
  /** Who owes whom, before the amount. */
  shared: {
    youOwe: ({ name }: { name: string }): string => `You owe ${name}`,
    owesYou: ({ name }: { name: string }): string => `${name} owes you`,
    formerMember: "a former member",
    hidden: "see your books",
  },
  moreLines: ({ count }: { count: number }): string => `and ${count} more`,
  total: ({ amount, ratesOn, isEstimate }: { amount: string; ratesOn?: string; isEstimate?: boolean }): string =>
    `Total: ${isEstimate ? "about " : ""}${amount}${ratesOn ? ` (exchange rates of ${ratesOn})` : ""}`,

  /** @param link.organization if there are several. */
  reconnect: ({ name, organization, provider }: { name: string; organization?: string; provider: string }): string =>
    `${name}${
      organization ? ` (${organization})` : ""
    }: ${provider} no longer accepts our key, so we can’t fetch the amount.`,

  /** What to tell the assistant. */
  advice: {
    ask: "Ask your assistant: “What is due this week?”",
    /** @param budget.name null for all spending */
    left: ({ name }: { name: string | null }): string =>
      `Ask your assistant: “What is left of ${name === null ? "our budget" : `the budget for ${name}`}?”`,
    cancelled: ({ name }: { name: string }): string =>
      `Once you’ve cancelled it, tell your assistant: “I’ve cancelled ${name}.”`,
    tellAmount: ({ name }: { name: string }): string => `Tell your assistant what ${name} cost.`,
    mark: ({ name }: { name: string }): string => `Tell your assistant: “Mark ${name} paid.”`,
    markOrSnooze: ({ name, snoozed, until }: { name: string; snoozed: string; until: string }): string =>
      `Tell your assistant: “Mark ${name} paid” or “Snooze ${snoozed} until ${until}.”`,
  },
  /** Before the links to the books. */
  withoutAssistant: "No assistant at hand?",

  /** Why the mail came. @param told.organization null if there are several. @param told.hears why, or several. */
  reason: ({ organization, count, hears }: {
    organization: string | null;
    count: number;
    hears: "owner" | "all" | "mine" | "several";
  }): string => {
    const them = organization ?? `${count} organizations`;
    const why = {
      owner: `you own ${them} and reminders are on`,
      all: `you chose reminders for all bills of ${them}`,
      mine: `bills in ${them} are assigned to you`,
      several: `of your reminder settings in ${them}`,
    }[hears];
    return `You’re getting this email because ${why}. We send at most one a day.`;
  },

  links: {
    reconnect: "Reconnect",
    books: (organization: string | null): string => organization ? `Open ${organization}` : "Open the books",
    settings: "Reminder settings",
    unsubscribe: "Unsubscribe",
  },
};
