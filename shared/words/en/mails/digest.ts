/** Words of a digest of bills. Dates, amounts and percentages are already formatted for the reader's locale. */
import type { Difference } from "../../message.ts";
import { type CancelForm, inForm, span, term } from "../draft_cancellation.ts";
import { count as countOf } from "../phrases.ts";
import { planEnd } from "./plan_end.ts";

/** Leaves a name unchanged, because it begins with a quotation mark. */
const sentence = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
const besideUsual = (usual: Difference | undefined): string =>
  !usual ? "" : usual.share ? `, ${usual.share} ${usual.isLess ? "below" : "above"} usual` : ", as usual";
interface NamedDay {
  name: string;
  when: string;
}
interface Rhythm {
  frequency: "once" | "daily" | "weekly" | "monthly" | "yearly";
  every: number;
}
/** For subjects and headlines. */
const comingUp = {
  trial: ({ name, when }: NamedDay): string => `the trial of ${name} ends ${when}`,
  /** @param trial.isAssumed whether no statement shows the charge */
  trial_charged: ({ name, when, isAssumed }: NamedDay & { isAssumed: boolean }): string =>
    isAssumed ? `the trial of ${name} ended ${when}` : `the trial of ${name} became a charge`,
  cancel_by: ({ name, when }: NamedDay): string => `the last day to cancel ${name} is ${when}`,
  renewal: ({ name, when, isContract }: NamedDay & { isContract: boolean }): string =>
    isContract ? `${name} renews ${when}` : `the yearly bill ${name} is due again ${when}`,
  price_rise: ({ name, when }: NamedDay): string => `${name} costs more from ${when}`,
  awaited: ({ name, when }: NamedDay): string => `the amount of ${name}, due ${when}, is missing`,
  low_balance: ({ name, when, isTotal }: NamedDay & { isTotal: boolean }): string =>
    `${isTotal ? "all accounts together are" : `${name} is`} expected to fall below the limit ${when}`,
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
/** " a month", " every 2 weeks"; empty for a one-time bill. */
const rhythm = ({ frequency, every }: Rhythm): string =>
  frequency === "once" ? "" : every === 1 ? ` a ${UNITS[frequency]}` : ` every ${every} ${UNITS[frequency]}s`;
/** Null for a former member. */
interface Creditor {
  name: string | null;
}
interface Counts {
  today: number;
  week: number;
  later: number;
  /** The last due date of the omitted bills. */
  until: string;
  overdue: number;
  trial: number;
  trialEnded: number;
  trialCharged: number;
  cancelBy: number;
  renewal: number;
  priceRise: number;
  awaited: number;
  lowBalance: number;
  usedUp: number;
  almostUsedUp: number;
  /** Documents without a record, and mail to accept or block. */
  documents: number;
  mails: number;
  /** Omitted lines. */
  others: number;
}

export const digest = {
  /** The name of the service, at the top. */
  product: "Expenses",
  /** The subject. It shows on locked screens, so it never contains an amount. */
  subject: (parts: string[]): string => sentence(parts.join("; ")),
  headline: (parts: string[]): string => parts.map((part) => `${sentence(part)}.`).join(" "),

  /** A mail about one item. `when` is "today" or "on Mon, Oct 5". */
  one: {
    on: (date: string): string => `on ${date}`,
    overdue: ({ name, since }: { name: string; since: string }): string => `${name} has been overdue since ${since}`,
    due: ({ name, when }: NamedDay): string => `${name} is due ${when}`,
    ...comingUp,
    budget: usedBudget,
  },
  /**
   * A mail about several items: "2 bills due today, 3 more this week, 1 overdue". Combines all kinds after the fourth.
   */
  counts: (many: Counts): string => {
    const parts: [count: number, text: string][] = [];
    const add = (count: number, one: string, several: string) => {
      if (count > 0) parts.push([count, count === 1 ? one : several]);
    };
    /** Names these bills once. */
    const addBills = (count: number, first: string, next: string) =>
      add(count, parts.length > 0 ? next : `bill ${first}`, parts.length > 0 ? next : `bills ${first}`);
    addBills(many.today, "due today", "");
    addBills(many.week, "due this week", "more this week");
    addBills(many.later, `due by ${many.until}`, `more by ${many.until}`);
    addBills(many.overdue, "overdue", "overdue");
    add(many.trial, "trial ends", "trials end");
    add(many.trialEnded, "trial ended", "trials ended");
    add(many.trialCharged, "trial charged", "trials charged");
    add(many.cancelBy, "last day to cancel", "last days to cancel");
    add(many.renewal, "renewal", "renewals");
    add(many.priceRise, "price rise", "price rises");
    add(many.awaited, "amount missing", "amounts missing");
    add(many.lowBalance, "low balance ahead", "low balances ahead");
    add(many.usedUp, "budget used up", "budgets used up");
    add(many.almostUsedUp, "budget almost used up", "budgets almost used up");
    add(many.documents, "document needs your attention", "documents need your attention");
    add(many.mails, "email awaits your decision", "emails await your decision");
    const rest = parts.splice(parts.length > 4 ? 3 : 4).reduce((sum, [count]) => sum + count, many.others);
    add(rest, "more below", "more below");
    return parts.map(([count, text]) => `${count} ${text}`).join(", ");
  },

  planEnd,

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
  /** The text beside an upcoming date. Omits unknown or hidden amounts. */
  notice: {
    trial: ({ amount, ...often }: { amount?: string } & Rhythm): string =>
      `the trial ends${amount ? `, then it costs ${amount}${rhythm(often)}` : ""}`,
    trial_charged: ({ amount, isAssumed, ...often }: { amount?: string; isAssumed: boolean } & Rhythm): string =>
      `the trial ended, and it ${isAssumed ? "counts as charged" : "charged"}${amount ? ` ${amount}` : ""}${
        isAssumed ? " (no statement shows it yet)" : ""
      }; it costs that${rhythm(often)} from now on`,
    /** @param contract.endsOn its last day @param contract.months of the next term; 0 for an open end, null if unknown */
    cancel_by: ({ amount, renewsOn, endsOn, months, form }: {
      amount?: string;
      renewsOn: string;
      endsOn?: string;
      months: number | null;
      form?: CancelForm;
    }): string =>
      `last day to cancel${inForm(form)}${endsOn ? ` to leave on ${endsOn}` : ""}${
        months === null ? "" : months === 0 ? ", or it goes on" : `, or it renews on ${renewsOn} for ${term(months)}`
      }${amount ? `, which costs ${amount}` : ""}`,
    renewal: ({ amount, months, isContract }: { amount?: string; months: number; isContract: boolean }): string =>
      `${isContract ? `renews for ${term(months)}` : `due again after ${span(months)}`}${amount ? `: ${amount}` : ""}`,
    price_rise: ({ amounts }: { amounts?: { old: string; new: string; share?: string } }): string =>
      amounts
        ? `the price goes from ${amounts.old} to ${amounts.new}${amounts.share ? `, up ${amounts.share}` : ""}`
        : "the price goes up",
    /** @param balance.isTotal whether it is the sum of all accounts */
    low_balance: ({ amount, low, limit, isTotal }: {
      amount?: string;
      low?: string;
      limit?: string;
      isTotal: boolean;
    }): string =>
      `${isTotal ? "all accounts together are" : "is"} expected to fall below the limit${limit ? ` of ${limit}` : ""}${
        amount ? `: likely ${amount}, possibly as low as ${low}` : ""
      }`,
    awaited: "paid automatically, not in your totals until its amount is known",
  },
  /**
   * Words for the used part of a budget, after its name. Omits amounts when they are hidden, and the percentage when
   * nothing is left.
   */
  budget: {
    all: "All spending",
    used: ({ spent, limit, carried, percent, per, isOver, isPartial }: {
      spent?: string;
      limit?: string;
      /** The amount carried over from earlier months, or from the named one. */
      carried?: { amount: string; isOverspent: boolean; from?: string };
      percent?: string;
      per: "month" | "year";
      isOver: boolean;
      isPartial: boolean;
    }): string => {
      const when = `${isOver ? "last" : "this"} ${per}`;
      const earlier = carried?.from ?? `earlier ${per}s`;
      const before = !carried
        ? ""
        : `; ${carried.isOverspent ? `${earlier} overspent by` : `${earlier} left`} ${carried.amount}`;
      const used = spent === undefined || limit === undefined
        ? percent === undefined ? `used up before ${when}` : `${percent} used ${when}`
        : `${spent} of ${limit} ${when}${before}${
          percent === undefined ? "" : carried ? `; ${percent} used` : ` (${percent})`
        }`;
      return `${used}${isPartial ? ", not counting payments without an exchange rate" : ""}`;
    },
  },
  /** Debts between the reader and another member; the amount follows. */
  shared: {
    youOwe: ({ name }: Creditor): string => `You owe ${name ?? "a former member"}`,
    owesYou: ({ name }: Creditor): string => `${name ?? "A former member"} owes you`,
    hidden: "see your books",
  },
  documents: ({ came, waiting }: { came: number; waiting: number }): string =>
    `${countOf(came, "document")} came in${
      waiting === 0 ? "" : `, ${waiting} ${waiting === 1 ? "needs" : "need"} your attention`
    }.`,
  mails: ({ count, until }: { count: number; until: string }): string =>
    count === 1
      ? `1 email is waiting for you to accept or block it. It will be deleted on ${until}.`
      : `${count} emails are waiting for you to accept or block them. The first will be deleted on ${until}.`,
  moreLines: ({ count }: { count: number }): string => `and ${count} more`,
  total: ({ amount, ratesOn, isEstimate }: { amount: string; ratesOn?: string; isEstimate?: boolean }): string =>
    `Total: ${isEstimate ? "about " : ""}${amount}${ratesOn ? ` (exchange rates of ${ratesOn})` : ""}`,

  /** @param link.organization if there are several */
  reconnect: ({ name, organization, provider }: { name: string; organization?: string; provider: string }): string =>
    `${name}${
      organization ? ` (${organization})` : ""
    }: ${provider} no longer accepts our key, so we can’t fetch the amount.`,

  /** Sentences for the assistant. */
  advice: {
    ask: "Ask your assistant: “What is due this week?”",
    askDocuments: "Ask your assistant: “Which documents need my attention?”",
    /** @param budget.name null for all spending */
    left: ({ name }: { name: string | null }): string =>
      `Ask your assistant: “What is left of ${name === null ? "our budget" : `the budget for ${name}`}?”`,
    cancelled: ({ name }: { name: string }): string =>
      `Once you’ve cancelled it, tell your assistant: “I’ve cancelled ${name}.”`,
    tellAmount: ({ name }: { name: string }): string => `Tell your assistant what ${name} cost.`,
    mark: ({ name }: { name: string }): string => `Tell your assistant: “Mark ${name} paid.”`,
    payWith: ({ name }: { name: string }): string => `Once you’ve paid ${name}, tell your assistant how much it was.`,
    markOrSnooze: ({ name, snoozed, until }: { name: string; snoozed: string; until: string }): string =>
      `Tell your assistant: “Mark ${name} paid” or “Snooze ${snoozed} until ${until}.”`,
  },
  /** Before the links to the books. */
  withoutAssistant: "No assistant at hand?",

  /** The reason for the mail. @param told.organization null for several @param told.hears one or several reasons */
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
    mails: "See incoming mail",
    settings: "Reminder settings",
    unsubscribe: "Unsubscribe",
  },
};
