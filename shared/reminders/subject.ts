/** The subject and headline of a digest. Neither contains an amount: both show on a locked screen. */
import {
  billsOf,
  budgetsOf,
  type DigestBill,
  type DigestBudget,
  type DigestContent,
  type DigestNotice,
  isOverdue,
  noticesOf,
  unlistedOf,
} from "./content.ts";
import { inSentence } from "./names.ts";
import type { Wording } from "./wording.ts";

const LONGEST_NAME = 40;
const NAMED = 3;
const nameOf = ({ name }: Pick<DigestBill, "name">) => inSentence(name, LONGEST_NAME);

/**
 * What comes first, by name, then what is overdue as a number: "Due Mon, Oct 5: Rent", "4 bills due by Mon, Oct 5:
 * Rent, Netflix, Water, +1 more (+2 overdue)", "Rent is due tomorrow; the trial of Zoom ends Fri, Nov 27". What is
 * overdue is named if nothing else is said.
 */
export function subjectOf(content: DigestContent, wording: Wording): string {
  const { words: { subject }, format } = wording;
  const { today } = content;
  const bills = billsOf(content);
  const unlisted = unlistedOf(content);
  const late = bills.filter(isOverdue);
  const coming = bills.filter((bill) => !isOverdue(bill));
  const overdue = late.length + unlisted.overdue;
  const count = coming.length + unlisted.due;
  const whenOf = (day: string, days: number) =>
    days < 2 ? format.daysFromNow(days) : format.date(day, { style: "short", today });

  if (noticesOf(content).length > 0 || budgetsOf(content).length > 0) {
    return mixedSubject(content, { wording, overdue, whenOf });
  }
  if (count === 0) {
    if (overdue > 1) return subject.severalOverdue({ count: overdue, ...firstOf(late, overdue) });
    const since = format.date(late[0]!.due_on, { style: "shortDay", today });
    return subject.overdue({ name: nameOf(late[0]!), since });
  }
  const first = coming[0]!;
  if (count === 1) return subject.due({ name: nameOf(first), when: whenOf(first.due_on, first.days), overdue });
  const last = coming.at(-1)!;
  const until = laterOf(last.due_on, unlisted.due_until);
  const list = { count, overdue, ...firstOf(coming, count) };
  return until === last.due_on && last.days < 2 && first.days === last.days
    ? subject.dueNow({ ...list, when: format.daysFromNow(last.days) })
    : subject.dueUntil({ ...list, until: format.date(until, { style: "short", today }) });
}

const firstOf = (bills: readonly DigestBill[], count: number) => ({
  names: bills.slice(0, NAMED).map(nameOf),
  more: count - Math.min(NAMED, bills.length),
});

function mixedSubject(
  content: DigestContent,
  { wording: { words: { subject } }, overdue, whenOf }: {
    wording: Wording;
    overdue: number;
    whenOf: (day: string, days: number) => string;
  },
): string {
  const unlisted = content.organizations.reduce(
    (sum, one) => sum + one.unlisted.due + one.unlisted_notices + one.unlisted_budgets,
    0,
  );
  const due = billsOf(content).filter((bill) => !isOverdue(bill)).map((bill) => ({
    days: bill.days,
    text: subject.part.due({ name: nameOf(bill), when: whenOf(bill.due_on, bill.days) }),
  }));
  const others = noticesOf(content).map((notice) => ({
    days: notice.days,
    text: noticePhrase(notice, { words: subject.part, when: whenOf(notice.on, notice.days) }),
  }));
  const budgets = budgetsOf(content).map((budget) => budgetPhrase(budget, subject.part));
  const parts = [...[...due, ...others].toSorted((a, b) => a.days - b.days).map(({ text }) => text), ...budgets];
  return subject.several({
    parts: parts.slice(0, NAMED),
    more: Math.max(0, parts.length - NAMED) + unlisted,
    overdue,
  });
}

type NoticeWords = Pick<Wording["words"]["headline"], DigestNotice["kind"]>;

const noticePhrase = (notice: DigestNotice, { words, when }: { words: NoticeWords; when: string }): string =>
  words[notice.kind]({ name: nameOf(notice), when, isContract: notice.is_contract });

const budgetPhrase = (
  { category, used_percent, per }: DigestBudget,
  { budget }: Pick<Wording["words"]["headline"], "budget">,
): string =>
  budget({
    name: category === null ? null : nameOf({ name: category }),
    isUsedUp: used_percent === null || used_percent >= 100,
    per,
  });

const laterOf = (day: string, other: string | null) => other !== null && other > day ? other : day;

const HEADLINE_DAYS = 3;
const HEADLINE_NAMES = 3;
const HEADLINE_NOTICES = 3;
const HEADLINE_BUDGETS = 3;

/** "Electricity has been overdue since October 2. Due Monday: Rent. Wednesday: Netflix." */
export function headlineOf(content: DigestContent, wording: Wording): string {
  const { words: { headline }, format } = wording;
  const { today } = content;
  const bills = billsOf(content);
  const unlisted = unlistedOf(content);
  const dateOf = (day: string) => format.date(day, { style: "day", today });
  const namesOf = (some: readonly DigestBill[], more = 0) => {
    const names = some.slice(0, HEADLINE_NAMES).map(nameOf);
    const count = some.length - names.length + more;
    return format.list(count > 0 ? [...names, headline.more({ count })] : names);
  };

  const sentences: string[] = [];
  const overdue = bills.filter(isOverdue);
  if (overdue.length === 1 && unlisted.overdue === 0) {
    sentences.push(headline.overdue({ name: nameOf(overdue[0]!), since: dateOf(overdue[0]!.due_on) }));
  } else if (overdue.length > 0) {
    sentences.push(headline.severalOverdue({ names: namesOf(overdue, unlisted.overdue) }));
  }
  // If everything due is snoozed, only overdue bills are listed.
  const days = [...Map.groupBy(bills.filter((bill) => !isOverdue(bill)), ({ due_on }) => due_on).values()];
  days.slice(0, HEADLINE_DAYS).forEach((sameDay, index) => {
    const when = dayOf(sameDay[0]!, { today, format });
    sentences.push(headline.due({ names: namesOf(sameDay), when, isFirst: index === 0 }));
  });
  const count = days.slice(HEADLINE_DAYS).flat().length + unlisted.due;
  if (count > 0) {
    sentences.push(headline.later({ count, until: dateOf(laterOf(bills.at(-1)!.due_on, unlisted.due_until)) }));
  }
  const notices = noticesOf(content);
  for (const notice of notices.slice(0, HEADLINE_NOTICES)) {
    const when = dayOf({ due_on: notice.on, days: notice.days }, { today, format });
    sentences.push(noticePhrase(notice, { words: headline, when }));
  }
  const budgets = budgetsOf(content);
  sentences.push(...budgets.slice(0, HEADLINE_BUDGETS).map((budget) => budgetPhrase(budget, headline)));
  const below = Math.max(0, notices.length - HEADLINE_NOTICES) + Math.max(0, budgets.length - HEADLINE_BUDGETS) +
    content.organizations.reduce((sum, one) => sum + one.unlisted_notices + one.unlisted_budgets, 0);
  if (below > 0) sentences.push(headline.moreBelow({ count: below }));
  return sentences.join(" ");
}

/** "today", "tomorrow", "Monday", "October 22". */
function dayOf(
  { due_on, days }: Pick<DigestBill, "due_on" | "days">,
  { today, format }: { today: string; format: Wording["format"] },
): string {
  if (days < 2) return format.daysFromNow(days);
  return format.date(due_on, days < 7 ? { style: "weekday" } : { style: "day", today });
}
