/** The subject and headline of a digest. Neither contains an amount: both show on a locked screen. */
import { billsOf, type DigestBill, type DigestContent, isOverdue, unlistedOf } from "./content.ts";
import { inSentence } from "./names.ts";
import type { Wording } from "./wording.ts";

const LONGEST_NAME = 40;
const NAMED = 2;
const nameOf = ({ name }: DigestBill) => inSentence(name, LONGEST_NAME);

/**
 * "Due Mon, Oct 5: Rent", "3 bills due by Mon, Oct 5: Rent, Netflix, +1", "Overdue: Electricity (since Oct 2), +2
 * more".
 */
export function subjectOf(content: DigestContent, { words: { subject }, format }: Wording): string {
  const bills = billsOf(content);
  const unlisted = unlistedOf(content);
  const count = bills.length + unlisted.overdue + unlisted.due;
  const { today } = content;
  const dateOf = (day: string) => format.date(day, { style: "short", today });
  const first = bills[0]!;
  if (isOverdue(first)) {
    const since = format.date(first.due_on, { style: "shortDay", today });
    return subject.overdue({ name: nameOf(first), since, more: count - 1 });
  }
  if (count === 1) {
    const when = first.days < 2 ? format.daysFromNow(first.days) : dateOf(first.due_on);
    return subject.due({ name: nameOf(first), when });
  }
  const last = bills.at(-1)!;
  const until = laterOf(last.due_on, unlisted.due_until);
  const list = { count, names: bills.slice(0, NAMED).map(nameOf), more: count - NAMED };
  return until === last.due_on && last.days < 2 && first.days === last.days
    ? subject.dueNow({ ...list, when: format.daysFromNow(last.days) })
    : subject.dueUntil({ ...list, until: dateOf(until) });
}

const laterOf = (day: string, other: string | null) => other !== null && other > day ? other : day;

const HEADLINE_DAYS = 3;
const HEADLINE_NAMES = 3;

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
  return sentences.join(" ");
}

/** "today", "tomorrow", "Monday", "October 22". */
function dayOf({ due_on, days }: DigestBill, { today, format }: { today: string; format: Wording["format"] }): string {
  if (days < 2) return format.daysFromNow(days);
  return format.date(due_on, days < 7 ? { style: "weekday" } : { style: "day", today });
}
