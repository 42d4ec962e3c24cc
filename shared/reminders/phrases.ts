/** Sentences at the end of a digest: the next steps, the bills to reconnect, and the reason for the mail. */
import { daysAfter } from "../iso_day.ts";
import {
  billsOf,
  budgetsOf,
  type DigestBill,
  type DigestContent,
  noticesOf,
  type Reconnect,
  waitingOf,
} from "./content.ts";
import { innerName, nameAlone, quotedName } from "./names.ts";
import type { Wording } from "./wording.ts";

/**
 * Suggests requests to the assistant that succeed without a question. Autopaid bills need no marking, marking a bill
 * without an amount needs one, snoozing a daily bill by days makes no sense, and assistants don't work after the end
 * of a plan. Null without suggestions.
 */
export function advice(content: DigestContent, { words, format }: Wording): string | null {
  const organizations = content.organizations.filter(({ plan_end: end }) => !end?.has_ended);
  if (organizations.length === 0) return null;
  const reached = { ...content, organizations };
  const payable = billsOf(reached).filter(({ autopay }) => !autopay);
  const first = payable.find((bill) => !needsAmount(bill)) ?? payable[0];
  if (!first) return adviceWithoutBills(reached, words);
  if (needsAmount(first)) return words.advice.payWith({ name: quotedName(first.name) });
  const name = innerName(first.name);
  const later = payable.filter(({ is_daily }) => !is_daily);
  const second = later.find((bill) => bill !== first) ?? later[0];
  if (!second) return words.advice.mark({ name });
  const day = snoozeDay(content.today, second.due_on);
  const until = format.date(
    day,
    day < daysAfter(content.today, 7) ? { style: "weekday" } : {
      style: "day",
      today: content.today,
    },
  );
  return words.advice.markOrSnooze({ name, snoozed: innerName(second.name), until });
}

function adviceWithoutBills(content: DigestContent, words: Wording["words"]): string {
  const awaited = noticesOf(content).find(({ kind }) => kind === "awaited");
  if (awaited) return words.advice.tellAmount({ name: quotedName(awaited.name) });
  const ending = noticesOf(content).find(({ kind }) => ["trial", "trial_charged", "cancel_by"].includes(kind));
  if (ending) return words.advice.cancelled({ name: innerName(ending.name) });
  const hasBills = billsOf(content).length > 0;
  const [budget] = hasBills ? [] : budgetsOf(content);
  if (!budget) return !hasBills && waitingOf(content).documents > 0 ? words.advice.askDocuments : words.advice.ask;
  return words.advice.left({ name: budget.category === null ? null : innerName(budget.category) });
}

const needsAmount = ({ needs_amount, amount }: DigestBill) => needs_amount ?? amount === null;

const MONDAY = 1;
const FRIDAY = 5;

/** The coming Friday, or Monday if it is Friday or later, and not before the bill is due: YYYY-MM-DD. */
function snoozeDay(today: string, dueOn: string): string {
  const dayBefore = daysAfter(dueOn, -1);
  const from = dayBefore > today ? dayBefore : today;
  const weekday = new Date(`${from}T00:00:00Z`).getUTCDay();
  const days = weekday < MONDAY ? MONDAY - weekday : weekday < FRIDAY ? FRIDAY - weekday : 7 + MONDAY - weekday;
  return daysAfter(from, days);
}

/** The reason for the mail. */
export function reason({ organizations }: DigestContent, { words }: Wording): string {
  const [only] = organizations;
  const count = organizations.length;
  const hears = new Set(organizations.map((organization) => organization.hears));
  return words.reason({
    organization: count === 1 ? quotedName(only!.name) : null,
    count,
    hears: hears.size === 1 ? only!.hears : "several",
  });
}

/** The bills to reconnect, each with its sentence. */
export function reconnectSentences(
  { reconnect, organizations }: DigestContent,
  { words }: Wording,
): { link: Reconnect; sentence: string }[] {
  const isAlone = (id: string) => organizations.length === 1 && organizations[0]!.id === id;
  return reconnect.map((link) => ({
    link,
    sentence: words.reconnect({
      name: quotedName(link.name),
      organization: isAlone(link.organization_id) ? undefined : quotedName(link.organization),
      provider: nameAlone(link.provider),
    }),
  }));
}
