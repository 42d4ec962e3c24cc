/** The texts of a digest line, which the text and HTML parts share. */
import type { Difference } from "../words/message.ts";
import { difference, differenceOf } from "./amounts.ts";
import {
  type DigestBalance,
  type DigestBill,
  type DigestBudget,
  type DigestContent,
  type DigestNotice,
  type DigestOrganization,
  isOverdue,
  type PlanEnd,
  type ProviderWord,
} from "./content.ts";
import { oneLine } from "../words/one_line.ts";
import { nameAlone } from "./names.ts";
import type { Wording } from "./wording.ts";

export interface Row {
  name: string;
  /** "Monday, October 5"; "since September 20" where several dates are overdue. */
  date: string;
  /** "in 3 days", "2 days ago"; "2 due dates" where several are overdue. */
  distance: string;
  /** "€84.20"; null when unknown or hidden. */
  amount: string | null;
  /** Further short phrases. */
  notes: string[];
  isOverdue: boolean;
}
/** The label and amount of a budget, a balance, or a bill after the end of a plan. */
export interface BudgetRow {
  name: string;
  used: string;
  amount?: string;
}

export interface Section {
  /** Null when the owner has only one organization. */
  title: string | null;
  organizationId: string;
  overdue: Row[];
  due: Row[];
  /** Other upcoming dates. */
  notices: Row[];
  /** Automatic payments that wait for their amount. */
  awaited: Row[];
  budgets: BudgetRow[];
  balances: BudgetRow[];
  /** "2 documents came in, 1 needs your attention." Null without any. */
  documents: string | null;
  /** "1 email is waiting for you to accept or block it.", followed by its deletion. Null without any. */
  mails: string | null;
  planEnd: PlanEndText | null;
  /** "and 12 more", for omitted lines. */
  moreOverdue: string | null;
  moreDue: string | null;
  moreNotices: string | null;
  moreBudgets: string | null;
  /** "Total: €1,284.10 (exchange rates of November 19)"; null when unknown, hidden, or equal to a single line. */
  total: string | null;
}

/** The notice in a section about the end of its plan. */
export interface PlanEndText {
  heading: string;
  sentences: string[];
  /** Null without a due date. */
  dueHeading: string | null;
  due: BudgetRow[];
  more: string | null;
  /** The words of the link to the plan page; null for readers who can't change the plan. */
  link: string | null;
}

/** The facts on a line besides its bill. */
interface Setting extends Wording {
  today: string;
  base: string;
  hidesAmounts: boolean;
}

export function sectionsOf(content: DigestContent, wording: Wording): Section[] {
  const { organizations, today, hides_amounts: hidesAmounts } = content;
  const more = (count: number) => count > 0 ? wording.words.moreLines({ count }) : null;
  return organizations.map((organization) => {
    const setting = { ...wording, today, base: organization.base_currency, hidesAmounts };
    const rows = organization.bills.map((bill) => rowOf(bill, setting));
    return {
      title: organizations.length > 1 ? nameAlone(organization.name) : null,
      organizationId: organization.id,
      overdue: rows.filter((row) => row.isOverdue),
      due: rows.filter((row) => !row.isOverdue),
      notices: organization.notices.filter(({ kind }) => kind !== "awaited").map((one) => noticeRow(one, setting)),
      awaited: organization.notices.filter(({ kind }) => kind === "awaited").map((one) => noticeRow(one, setting)),
      moreOverdue: more(organization.unlisted.overdue),
      moreDue: more(organization.unlisted.due),
      moreNotices: more(organization.unlisted_notices),
      budgets: organization.budgets.map((budget) => budgetRow(budget, setting)),
      moreBudgets: more(organization.unlisted_budgets),
      balances: organization.balances.map((balance) => balanceRow(balance, setting)),
      documents: organization.documents ? wording.words.documents(organization.documents) : null,
      mails: organization.mails
        ? wording.words.mails({
          count: organization.mails.count,
          until: wording.format.date(organization.mails.until, { style: "day", today }),
        })
        : null,
      planEnd: organization.plan_end ? planEndText(organization.plan_end, { setting, more }) : null,
      total: totalOf(organization, setting),
    };
  });
}

function rowOf(bill: DigestBill, setting: Setting): Row {
  const { words: { line }, format, today } = setting;
  const several = isOverdue(bill) && bill.dates > 1;
  return {
    name: nameAlone(bill.name),
    date: several
      ? line.since({ date: format.date(bill.due_on, { style: "day", today }) })
      : format.date(bill.due_on, { style: "full", today }),
    distance: several ? line.dueDates({ count: bill.dates }) : format.daysFromNow(bill.days),
    amount: bill.amount && format.money(bill.amount, bill.currency),
    notes: [
      ...(setting.hidesAmounts ? [] : amountNotes(bill, setting)),
      ...(bill.autopay ? [line.paidAutomatically] : []),
      ...assigneeNotes(bill, setting),
    ],
    isOverdue: isOverdue(bill),
  };
}

function noticeRow(notice: DigestNotice, setting: Setting): Row {
  const { format, today } = setting;
  return {
    name: nameAlone(notice.name),
    date: format.date(notice.on, { style: "full", today }),
    distance: format.daysFromNow(notice.days),
    amount: null,
    notes: [noticeNote(notice, setting), ...assigneeNotes(notice, setting)],
    isOverdue: false,
  };
}

const assigneeNotes = ({ assignee }: Pick<DigestBill, "assignee">, { words: { line } }: Setting): string[] =>
  assignee ? [line.assignedTo({ name: oneLine(assignee) })] : [];

function balanceRow({ owes, who, currency, amount }: DigestBalance, { words: { shared }, format }: Setting): BudgetRow {
  const name = who === null ? null : oneLine(who);
  return {
    name: owes ? shared.youOwe({ name }) : shared.owesYou({ name }),
    used: amount === null ? shared.hidden : format.money(amount, currency),
  };
}

function planEndText(
  { reason, on, has_ended: hasEnded, stops, may_change: mayChange, owner, due }: PlanEnd,
  { setting: { words: { planEnd: words }, format, today }, more }: {
    setting: Setting;
    more: (count: number) => string | null;
  },
): PlanEndText {
  const full = (day: string) => format.date(day, { style: "full", today });
  return {
    heading: hasEnded ? words.headingEnded : words.heading,
    sentences: [
      words.why({ reason, date: full(on), hasEnded }),
      words.stops(stops),
      words.booksStay,
      ...(due.bills.length === 0 ? [words.nothingDue] : []),
      mayChange ? words.keep : words.onlyOwner({ owner: oneLine(owner) }),
    ],
    dueHeading: due.bills.length === 0 ? null : words.dueAfter,
    due: due.bills.map(({ name, due_on, amount, currency }) => ({
      name: nameAlone(name),
      used: full(due_on),
      amount: amount ? format.money(amount, currency) : undefined,
    })),
    more: more(due.unlisted),
    link: mayChange ? words.choose : null,
  };
}

function budgetRow({ category, currency, ...budget }: DigestBudget, { words, format }: Setting): BudgetRow {
  const money = (amount: string | null) => amount === null ? undefined : format.money(amount, currency);
  return {
    name: category === null ? words.budget.all : nameAlone(category),
    used: words.budget.used({
      spent: money(budget.spent),
      limit: money(budget.limit ?? budget.available),
      carried: carriedOf(budget, { words, format, money }),
      percent: budget.used_percent === null ? undefined : format.percent(budget.used_percent),
      per: budget.per,
      isOver: budget.is_over,
      isPartial: budget.is_partial,
    }),
  };
}

/** Carry-over from earlier months or years, negative when overspent; undefined when zero or hidden. */
function carriedOf(
  { carried, carried_from: from, per }: Pick<DigestBudget, "carried" | "carried_from" | "per">,
  { format, money }: Wording & { money: (amount: string) => string | undefined },
) {
  if (!carried || Number(carried) === 0) return undefined;
  return {
    amount: money(carried.replace("-", ""))!,
    isOverspent: carried.startsWith("-"),
    from: !from ? undefined : per === "year" ? from.slice(0, 4) : format.date(from, { style: "month" }),
  };
}

function noticeNote(notice: DigestNotice, { words, format, today }: Setting): string {
  const { kind, currency, frequency, every, is_contract: isContract } = notice;
  const months = notice.term_months ?? (notice.ends_on ? null : notice.term_years * 12);
  const money = (amount: string | null) => amount === null ? undefined : format.money(amount, currency);
  const amount = money(notice.amount);
  switch (kind) {
    case "trial":
      return words.notice.trial({ amount, frequency, every });
    case "trial_charged":
      return words.notice.trial_charged({ amount, frequency, every, isAssumed: notice.is_assumed ?? false });
    case "cancel_by":
      return words.notice.cancel_by({
        // If the renewal is unknown, so is the later cost.
        amount: months === null ? undefined : amount,
        renewsOn: format.date(notice.renews_on!, { style: "day", today }),
        endsOn: notice.ends_on ? format.date(notice.ends_on, { style: "day", today }) : undefined,
        months,
        form: notice.form ?? undefined,
      });
    case "renewal":
      return words.notice.renewal({ amount, months: months ?? 0, isContract });
    case "awaited":
      return words.notice.awaited;
    case "low_balance": {
      const [low, limit] = [money(notice.low ?? null), money(notice.limit ?? null)];
      return words.notice.low_balance({ amount, low, limit, isTotal: notice.is_total ?? false });
    }
    case "price_rise": {
      const { amount: now, earlier_amount: earlier } = notice;
      if (now === null || earlier === null) return words.notice.price_rise({});
      const { share } = differenceOf(difference(now, earlier), { of: earlier, format });
      return words.notice.price_rise({ amounts: { old: money(earlier)!, new: money(now)!, share } });
    }
  }
}

function amountNotes(bill: DigestBill, setting: Setting): string[] {
  const { words: { line }, format, base } = setting;
  const notTaken = bill.not_taken ? [notTakenNote(bill.not_taken, setting)] : [];
  if (!bill.amount) {
    const lastTime = bill.earlier_amount ? format.money(bill.earlier_amount, bill.currency) : undefined;
    return [line.amountUnknown({ lastTime }), ...notTaken];
  }
  const notes: string[] = [];
  if (bill.base_amount) notes.push(line.inBaseCurrency({ amount: format.money(bill.base_amount, base) }));
  if (bill.fetched) notes.push(fetchedNote(bill.fetched, setting));
  notes.push(...notTaken);
  if (bill.is_estimate) notes.push(line.estimated);
  const isCompared = bill.is_estimate || bill.fetched?.usual;
  if (!isCompared && bill.dates === 1 && bill.earlier_amount && bill.earlier_amount !== bill.amount) {
    const change = difference(bill.amount, bill.earlier_amount);
    const amount = format.money(change.replace("-", ""), bill.currency);
    notes.push(line.sinceLastTime({ amount, ...differenceOf(change, { of: bill.earlier_amount, format }) }));
  }
  return notes;
}

/** "from DigitalOcean on Oct 1, 38% above usual". */
const fetchedNote = (word: ProviderWord, { words: { line }, format, today }: Setting) =>
  line.fetched({
    on: format.date(word.on, { style: "shortDay", today }),
    provider: nameAlone(word.provider),
    usual: besideUsual(word, format),
  });

/** "DigitalOcean reported $130.00 on Oct 1, 63% above usual: please check". */
const notTakenNote = (word: ProviderWord, { words: { line }, format, today }: Setting) =>
  line.notTaken({
    on: format.date(word.on, { style: "shortDay", today }),
    provider: nameAlone(word.provider),
    amount: word.amount ? format.money(word.amount, word.currency) : undefined,
    usual: besideUsual(word, format),
  });

const besideUsual = ({ amount, usual }: ProviderWord, format: Wording["format"]): Difference | undefined =>
  amount && usual ? differenceOf(difference(amount, usual), { of: usual, format }) : undefined;

function totalOf(
  { total, bills, base_currency, rates_on }: DigestOrganization,
  { words, format, today }: Setting,
): string | null {
  if (!total || bills.length < 2) return null;
  const ratesOn = rates_on ? format.date(rates_on, { style: "day", today }) : undefined;
  const isEstimate = bills.some(({ is_estimate }) => is_estimate);
  return words.total({ amount: format.money(total, base_currency), ratesOn, isEstimate });
}
