/** Reads a digest as a person would and compares it with the expected content. */
import { assert } from "@std/assert";
import type { SentMail } from "../../functions/cron-reminders/harness.ts";
import { dayOfMonth, daysBetween } from "./days.ts";
import type { ExpectedMail, Line, Notice } from "./mail_rule.ts";
import { say } from "./money.ts";
import { assertSameRows } from "./same_rows.ts";

const MONTHS = "January February March April May June July August September October November December".split(" ");
const SIGNS: Record<string, string> = { "€": "EUR", "US$": "USD", "£": "GBP", "¥": "JPY" };
const HEADINGS = { "Overdue:": "overdue", "Due:": "due", "Coming up:": "notices" } as const;
const KINDS: [RegExp, Notice["kind"]][] = [
  [/^the trial ends, then it costs/, "trial"],
  [/^last day to cancel, or it renews on/, "cancel_by"],
  [/^(renews for|due again after)/, "renewal"],
  [/^the price goes from/, "price_rise"],
];

const day = (on: string) => `${dayOfMonth(on)} ${MONTHS[Number(on.slice(5, 7)) - 1]}`;
const distance = (days: number) =>
  days === 0
    ? "today"
    : days === 1
    ? "tomorrow"
    : days === -1
    ? "yesterday"
    : days > 0
    ? `in ${days} days`
    : `${-days} days ago`;

/** Checks every mail of the year: its sections, its lines, its amounts and its subject. */
export function checkMail({ subject, text }: SentMail, expected: ExpectedMail): void {
  const told = sectionsOf(text);
  const { today } = expected;
  const spell = ({ name, on, dates, amounts }: Line) =>
    [
      name,
      day(on),
      dates > 1 ? `${dates} due dates` : distance(daysBetween(today, on)),
      ...amounts.map(({ minor, currency }) => `${say(minor, currency)} ${currency}`),
    ].join(" · ");
  assertSameRows(told.overdue, expected.overdue.map(spell), `overdue on ${today}\n${text}`);
  assertSameRows(told.due, expected.due.map(spell), `due on ${today}\n${text}`);
  const notices = expected.notices.map((notice) => `${notice.kind}: ${spell(notice)}`);
  assertSameRows(told.notices, notices, `coming up on ${today}\n${text}`);
  checkSubject(subject, expected);
}

/** A single item by name, or the count of each kind: due today, in the week, later, overdue, coming up. */
function checkSubject(subject: string, { today, due, notices, overdue }: ExpectedMail): void {
  const all = [...due, ...notices, ...overdue];
  if (all.length === 1) {
    assert(subject.includes(`“${all[0]!.name}”`), `"${subject}" does not name ${all[0]!.name}`);
    return;
  }
  const numbers = [...subject.matchAll(/\d+(?= (?:bill|more|overdue|trial|last|renewal|price))/g)].map(Number);
  const sum = numbers.reduce((one, other) => one + other, 0);
  assert(sum === all.length, `"${subject}" counts ${sum} of ${all.length}`);
  const dueToday = due.filter(({ on }) => on === today).length;
  assert(subject.includes("due today") === dueToday > 0, `"${subject}" on ${today}`);
  assert(subject.includes("overdue") === overdue.length > 0, subject);
}

/** The lines of each section, as `name · day · distance · amounts`. Any other line between them is an error. */
function sectionsOf(text: string): Record<"overdue" | "due" | "notices", string[]> {
  const sections = { overdue: [] as string[], due: [] as string[], notices: [] as string[] };
  const [, , body] = text.split("\n\n");
  let section: keyof typeof sections | undefined;
  const lines = body!.split("\n");
  for (const [place, line] of lines.entries()) {
    if (line.startsWith("    ")) continue;
    if (line in HEADINGS) section = HEADINGS[line as keyof typeof HEADINGS];
    else if (line.startsWith("Total: ")) section = undefined;
    else {
      assert(section && line.startsWith("  "), `a line that no rule knows: ${line}`);
      sections[section!].push(section === "notices" ? readNotice(line, lines[place + 1]!.trim()) : readBill(line));
    }
  }
  return sections;
}

/** `  Rent  Monday, 5 October  in 2 days  €1,310.00`; the amount may be missing. */
function readBill(line: string): string {
  const [name, date, when, amount] = cellsOf(line);
  assert(name && when, `a line that nobody can read: ${line}`);
  return [name, dayOf(date!), when, ...(amount ? [readAmount(amount)] : [])].join(" · ");
}

/** `  Gym  Friday, 30 January  in 14 days`, and below it "last day to cancel, or it renews on …, which costs €360.00". */
function readNotice(line: string, note: string): string {
  const [name, date, when] = cellsOf(line);
  const kind = KINDS.find(([words]) => words.test(note))?.[1];
  assert(kind, `a notice that no rule knows: ${line} ${note}`);
  const amounts = note.match(/(US\$|€|£|¥|[A-Z]{3}\s)[\d,]+(\.\d+)?/g) ?? [];
  return `${kind}: ${[name, dayOf(date!), when, ...amounts.map(readAmount)].join(" · ")}`;
}

const cellsOf = (line: string) => line.trim().split(/ {2,}/);

/** "Monday, 5 October", "since 20 September", "5 January 2027": the day and the month. */
const dayOf = (text: string) => /\d{1,2} \p{L}+/u.exec(text)![0];

function readAmount(text: string): string {
  const [, sign, digits] = /^(\D+?)\s*([\d,.]+)$/.exec(text)!;
  return `${digits!.replaceAll(",", "")} ${SIGNS[sign!] ?? sign}`;
}
