/** Sentences at the end of a digest: what to do now, what to reconnect, why the mail came. */
import { daysAfter } from "../iso_day.ts";
import { billsOf, budgetsOf, type DigestBill, type DigestContent, noticesOf, type Reconnect } from "./content.ts";
import { inSentence } from "./names.ts";
import type { Wording } from "./wording.ts";

const LONGEST_NAME = 120;
const nameOf = ({ name }: Pick<DigestBill, "name">) => inSentence(name, 40);

/** What the assistant can do. Autopaid bills need no marking, and snoozing a daily bill by days makes no sense. */
export function advice(content: DigestContent, { words, format }: Wording): string {
  const payable = billsOf(content).filter(({ autopay }) => !autopay);
  if (payable.length === 0) {
    const ending = noticesOf(content).find(({ kind }) => kind === "trial" || kind === "cancel_by");
    const awaited = noticesOf(content).find(({ kind }) => kind === "awaited");
    if (awaited) return words.advice.tellAmount({ name: nameOf(awaited) });
    if (ending) return words.advice.cancelled({ name: nameOf(ending) });
    const [budget] = billsOf(content).length === 0 ? budgetsOf(content) : [];
    if (!budget) return words.advice.ask;
    return words.advice.left({ name: budget.category === null ? null : nameOf({ name: budget.category }) });
  }
  const first = payable[0]!;
  const later = payable.filter(({ is_daily }) => !is_daily);
  const second = later.find((bill) => bill !== first) ?? later[0];
  const name = nameOf(first);
  if (!second) return words.advice.mark({ name });
  const until = format.date(snoozeDay(content.today), { style: "weekday" });
  return words.advice.markOrSnooze({ name, snoozed: nameOf(second), until });
}

const MONDAY = 1;
const FRIDAY = 5;

/** The coming Friday, or Monday if today is Friday or later: YYYY-MM-DD. */
function snoozeDay(today: string): string {
  const weekday = new Date(`${today}T00:00:00Z`).getUTCDay();
  const days = weekday < FRIDAY ? FRIDAY - weekday : 7 + MONDAY - weekday;
  return daysAfter(today, days);
}

/** Why the mail came. */
export function reason({ organizations }: DigestContent, { words }: Wording): string {
  const [only] = organizations;
  const count = organizations.length;
  const hears = new Set(organizations.map((organization) => organization.hears));
  return words.reason({
    organization: count === 1 ? inSentence(only!.name, LONGEST_NAME) : null,
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
      name: inSentence(link.name, LONGEST_NAME),
      organization: isAlone(link.organization_id) ? undefined : inSentence(link.organization, LONGEST_NAME),
      provider: inSentence(link.provider, 60),
    }),
  }));
}
