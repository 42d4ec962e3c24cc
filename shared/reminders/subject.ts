/** What a digest is called in a list of mails, and its first sentence. Neither says an amount: both show on a locked screen. */
import { billsOf, type DigestBill, type DigestContent, isOverdue, unlistedOf } from "./content.ts";
import { daysFromNow, inSentence, listOf, onDay, plainDate, plainShortDate, shortDate, shortestDate } from "./words.ts";

const LONGEST_NAME = 40;
const NAMED = 2;
const nameOf = ({ name }: DigestBill) => inSentence(name, LONGEST_NAME);

/** "Rent is due Monday 5 Oct", "3 bills due by Mon 5 Oct: Rent, Netflix, +1", "Overdue: Electricity (since 2 Oct), +2 more". */
export function subjectOf(content: DigestContent): string {
  const bills = billsOf(content);
  const unlisted = unlistedOf(content);
  const count = bills.length + unlisted.overdue + unlisted.due;
  const { today } = content;
  const first = bills[0]!;
  if (isOverdue(first)) {
    const more = count > 1 ? `, +${count - 1} more` : "";
    return `Overdue: ${nameOf(first)} (since ${plainShortDate(first.due_on, today)})${more}`;
  }
  const last = bills.at(-1)!;
  if (count === 1) {
    return `${nameOf(first)} is due ${first.days < 2 ? daysFromNow(first.days) : shortDate(first.due_on, today)}`;
  }
  const until = laterOf(last.due_on, unlisted.due_until);
  const by = until === last.due_on && last.days < 2 ? daysFromNow(last.days) : `by ${shortestDate(until, today)}`;
  const more = count > NAMED ? `, +${count - NAMED}` : "";
  return `${count} bills due ${by}: ${bills.slice(0, NAMED).map(nameOf).join(", ")}${more}`;
}

const laterOf = (day: string, other: string | null) => other !== null && other > day ? other : day;

const SENTENCE_DAYS = 3;
const SENTENCE_NAMES = 3;

/** "Electricity is overdue since 2 October. Rent is due on Monday, Netflix on Wednesday." */
export function sentenceOf(content: DigestContent): string {
  const bills = billsOf(content);
  const unlisted = unlistedOf(content);
  const { today } = content;
  const overdue = bills.filter(isOverdue);
  const days = Map.groupBy(bills.filter((bill) => !isOverdue(bill)), ({ due_on }) => due_on);
  const sentences: string[] = [];
  if (overdue.length === 1) {
    sentences.push(`${nameOf(overdue[0]!)} is overdue since ${plainDate(overdue[0]!.due_on, today)}.`);
  } else if (overdue.length > 1) sentences.push(`${named(overdue, unlisted.overdue)} are overdue.`);
  const due = [...days.values()].slice(0, SENTENCE_DAYS).map((sameDay, index) => {
    const verb = index > 0 ? "" : sameDay.length > 1 ? " are due" : " is due";
    return `${named(sameDay)}${verb} ${onDay(sameDay[0]!.due_on, { today, days: sameDay[0]!.days })}`;
  });
  const later = [...days.values()].slice(SENTENCE_DAYS).flat().length + unlisted.due;
  if (later > 0) due.push(`${later} more by ${plainDate(laterOf(bills.at(-1)!.due_on, unlisted.due_until), today)}`);
  // Who snoozed beyond the due date is told of what is overdue, and of nothing else.
  if (due.length > 0) sentences.push(`${due.join(", ")}.`);
  return sentences.join(" ");
}

function named(bills: readonly DigestBill[], unlisted = 0): string {
  const names = bills.slice(0, SENTENCE_NAMES).map(nameOf);
  const rest = bills.length - names.length + unlisted;
  return listOf(rest > 0 ? [...names, `${rest} more`] : names);
}
