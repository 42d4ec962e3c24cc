/**
 * The exact content of a day's mail: each due date once for each of its lead times, repeated reminders after 3, 7 and
 * then every 14 days, trials 7 days and 1 day before, last days to cancel 14 and 3 days before, renewals, higher
 * prices. It remembers earlier mails.
 */
import type { Bill } from "./bills.ts";
import { daysBetween, plus } from "./days.ts";

/** A line of a mail: subject, day, number of dates and amounts. */
export interface Line {
  name: string;
  on: string;
  dates: number;
  amounts: { minor: number; currency: string }[];
}

export const NOTICES = ["trial", "cancel_by", "renewal", "price_rise"] as const;
export interface Notice extends Line {
  kind: typeof NOTICES[number];
}

export interface ExpectedMail {
  today: string;
  overdue: Line[];
  due: Line[];
  notices: Notice[];
}

/** The default lead time. */
const DEFAULT_LEAD = 3;

export class MailRule {
  #said = new Set<string>();
  #lastMail = "";

  constructor(readonly bills: () => readonly Bill[]) {}

  /** The mail of a day; null when empty or already sent today. */
  expect(today: string): ExpectedMail | null {
    if (this.#lastMail === today) return null;
    const bills = this.bills();
    const due = bills.flatMap((bill) => this.#due(bill, today));
    const late = bills.flatMap((bill) => this.#snoozeEnded(bill, today).concat(this.#nudges(bill, today)));
    const notices = bills.flatMap((bill) => this.#notices(bill, today));
    if (due.length + late.length + notices.length === 0) return null;
    this.#lastMail = today;
    return { today, due, notices, overdue: bills.flatMap((bill) => overdueLine(bill, today)) };
  }

  /** True the first time. */
  #isNews(...about: unknown[]): boolean {
    const key = about.join("|");
    return !this.#said.has(key) && !!this.#said.add(key);
  }

  #due(bill: Bill, today: string): Line[] {
    const { plan } = bill;
    const next = bill.next(today);
    if (!next || (next.snoozedUntil ?? "") > today) return [];
    const days = daysBetween(today, next.on);
    const lead = plan.lead ?? DEFAULT_LEAD;
    if (days > lead) return [];
    const isFirst = this.#isNews("due", plan.name, next.on, next.snoozedUntil);
    // The first mail also covers later reminders whose day has come.
    const passed = (plan.again ?? []).filter((again) => days <= again);
    const isLater = passed.map((again) => this.#isNews("again", plan.name, next.on, again)).some((news) => news);
    if (!isFirst && !isLater) return [];
    return [{ name: plan.name, on: next.on, dates: 1, amounts: amounts(bill, next.minor) }];
  }

  #snoozeEnded(bill: Bill, today: string): string[] {
    return bill.overdue(today).filter(({ on, snoozedUntil }) =>
      snoozedUntil && snoozedUntil > on && snoozedUntil <= today && snoozedUntil >= plus(today, -3) &&
      this.#isNews("due", bill.plan.name, on, snoozedUntil)
    ).map(({ on }) => on);
  }

  #nudges(bill: Bill, today: string): string[] {
    if (bill.plan.autopay) return [];
    return bill.overdue(today).filter(({ on, snoozedUntil = on }) => {
      const days = daysBetween(snoozedUntil > on ? snoozedUntil : on, today);
      const step = days < 7 ? 3 : 7 + Math.floor((days - 7) / 14) * 14;
      // A day may have no run, because the run before midnight already sent its mail.
      return days >= step && days <= step + 2 && this.#isNews("nudge", bill.plan.name, on, snoozedUntil, step);
    }).map(({ on }) => on);
  }

  #notices(bill: Bill, today: string): Notice[] {
    const { plan } = bill;
    const next = bill.next(today);
    const notices: Notice[] = [];
    const tell = (kind: Notice["kind"], on: string, steps: number[], ...costs: (number | null)[]) => {
      const days = daysBetween(today, on);
      const step = steps.filter((step) => days >= 0 && days <= step).at(-1);
      if (step === undefined || !this.#isNews(kind, plan.name, on, step)) return;
      notices.push({ kind, name: plan.name, on, dates: 1, amounts: costs.flatMap((minor) => amounts(bill, minor)) });
    };
    if (plan.trialEnds) tell("trial", plan.trialEnds, [7, 1], plan.minor);
    if (plan.contract) {
      const { renewsOn, noticeDays, termMinor } = plan.contract;
      const cancelBy = plus(renewsOn, -noticeDays);
      tell("cancel_by", cancelBy, [14, 3], termMinor);
      if (today > cancelBy) tell("renewal", renewsOn, [14], termMinor);
    }
    if (plan.comesAgain && next && daysBetween(today, next.on) > (plan.lead ?? DEFAULT_LEAD)) {
      tell("renewal", next.on, [14], plan.minor);
    }
    if (bill.rise && bill.rise.on === next?.on) tell("price_rise", next.on, [7], bill.rise.from, bill.rise.to);
    return notices;
  }
}

const amounts = ({ plan: { currency } }: Bill, minor: number | null) => minor === null ? [] : [{ minor, currency }];

/** Every mail lists the overdue bills, one line each. */
function overdueLine(bill: Bill, today: string): Line[] {
  const late = bill.overdue(today).filter(({ snoozedUntil }) => (snoozedUntil ?? "") <= today);
  if (late.length === 0) return [];
  const isKnown = late.every(({ minor }) => minor !== null);
  const sum = late.reduce((sum, { minor }) => sum + (minor ?? 0), 0);
  return [{
    name: bill.plan.name,
    on: late[0]!.on,
    dates: late.length,
    amounts: amounts(bill, isKnown ? sum : null),
  }];
}
