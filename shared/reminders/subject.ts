/** The subject and headline of a digest. Neither contains an amount, because both appear on a locked screen. */
import {
  billsOf,
  budgetsOf,
  type DigestBill,
  type DigestContent,
  type DigestNotice,
  endsOf,
  isOverdue,
  noticesOf,
  type PlanEnd,
  unlistedOf,
  waitingOf,
} from "./content.ts";
import { daysAfter } from "../iso_day.ts";
import { quotedName } from "./names.ts";
import type { Wording } from "./wording.ts";

const A_WEEK = 7;

/** "Due tomorrow: “Rent”" for a single item, otherwise "2 bills due today, 3 more this week, 1 overdue". */
export function subjectOf(content: DigestContent, wording: Wording): string {
  const ends = endsOf(content).filter(({ is_day }) => is_day).map((end) => endPhrase(end, wording, "short"));
  const others = onlyOne(content, wording)?.subject ?? countsOf(content, wording);
  return wording.words.subject([...ends, ...(others ? [others] : [])]);
}

/** The same as sentences, including an approaching end of a plan. */
export function headlineOf(content: DigestContent, wording: Wording): string {
  const ends = endsOf(content).map((end) => endPhrase(end, wording, "day"));
  const others = onlyOne(content, wording)?.headline ?? countsOf(content, wording);
  return wording.words.headline([...(others ? [others] : []), ...ends]);
}

interface Said {
  subject: string;
  headline: string;
}

/** The words for a mail about one item, with its name. */
function onlyOne(content: DigestContent, { words: { one }, format }: Wording): Said | undefined {
  const [bills, notices, budgets] = [billsOf(content), noticesOf(content), budgetsOf(content)];
  const unlisted = unlistedOf(content);
  const others = content.organizations.reduce((sum, one) => sum + one.unlisted_notices + one.unlisted_budgets, 0);
  if (bills.length + notices.length + budgets.length + unlisted.overdue + unlisted.due + others !== 1) return;
  const { today } = content;
  const [bill] = bills;
  const [notice] = notices;
  const whenOf = (day: string, days: number, style: "short" | "day") =>
    days < 2 && days > -2 ? format.daysFromNow(days) : one.on(format.date(day, { style, today }));
  const both = (say: (style: "short" | "day") => string): Said => ({ subject: say("short"), headline: say("day") });
  if (bill) {
    const name = quotedName(bill.name);
    return both((style) =>
      isOverdue(bill)
        ? one.overdue({ name, since: format.date(bill.due_on, { style: style === "day" ? style : "shortDay", today }) })
        : one.due({ name, when: whenOf(bill.due_on, bill.days, style) })
    );
  }
  if (notice) {
    return both((style) =>
      one[notice.kind]({
        name: quotedName(notice.name),
        when: whenOf(notice.on, notice.days, style),
        isContract: notice.is_contract,
        isAssumed: notice.is_assumed ?? false,
        isTotal: notice.is_total ?? false,
      })
    );
  }
  const [{ category, used_percent, per }] = budgets as [typeof budgets[number]];
  const isUsedUp = used_percent === null || used_percent >= 100;
  return both(() => one.budget({ name: category === null ? null : quotedName(category), isUsedUp, per }));
}

/** The count of each kind, the nearest first; empty without any. */
function countsOf(content: DigestContent, { words, format }: Wording): string {
  const bills = billsOf(content);
  const unlisted = unlistedOf(content);
  const due = bills.filter((bill) => !isOverdue(bill));
  const later = due.filter(({ days }) => days >= A_WEEK);
  const isUnlistedSoon = unlisted.due_until !== null && unlisted.due_until < daysAfter(content.today, A_WEEK);
  const count = (kind: DigestNotice["kind"]) => noticesOf(content).filter((notice) => notice.kind === kind).length;
  const assumed = noticesOf(content).filter(({ is_assumed: isAssumed }) => isAssumed).length;
  const usedUp = budgetsOf(content).filter(({ used_percent: used }) => used === null || used >= 100).length;
  const until = [...later.map((bill: DigestBill) => bill.due_on), ...(unlisted.due_until ? [unlisted.due_until] : [])]
    .toSorted().at(-1);
  return words.counts({
    today: due.filter(({ days }) => days === 0).length,
    week: due.filter(({ days }) => days > 0 && days < A_WEEK).length + (isUnlistedSoon ? unlisted.due : 0),
    later: later.length + (isUnlistedSoon ? 0 : unlisted.due),
    until: until === undefined ? "" : format.date(until, { style: "shortDay", today: content.today }),
    overdue: bills.filter(isOverdue).length + unlisted.overdue,
    trial: count("trial"),
    trialEnded: assumed,
    trialCharged: count("trial_charged") - assumed,
    cancelBy: count("cancel_by"),
    renewal: count("renewal"),
    priceRise: count("price_rise"),
    awaited: count("awaited"),
    lowBalance: count("low_balance"),
    usedUp,
    almostUsedUp: budgetsOf(content).length - usedUp,
    ...waitingOf(content),
    others: content.organizations.reduce((sum, one) => sum + one.unlisted_notices + one.unlisted_budgets, 0),
  });
}

function endPhrase(
  end: PlanEnd & { organization: string },
  { words, format }: Wording,
  style: "short" | "day",
): string {
  const when = end.days < 2 && end.days > -2
    ? format.daysFromNow(end.days)
    : words.one.on(format.date(end.on, { style }));
  const what = end.stops.includes("reminders") ? "reminders" : end.stops[0]!;
  return words.planEnd.stop({ what, organization: quotedName(end.organization), when, hasEnded: end.has_ended });
}
