/**
 * Writes due dates as an iCalendar file (RFC 5545), deterministically. The library serializes and folds; this file
 * chooses the content. A due date is a day, not an instant, so time zones can't shift it.
 */
import ical, { ICalCalendarMethod, ICalEventTransparency } from "ical-generator";
import { cleanLine } from "../clean_text.ts";
import type { Format } from "../words/format.ts";
import type { PageWords } from "../words/page_words.ts";
import type { CalendarFacts, DueDate } from "./facts.ts";

/** How often an app should refresh. Each refresh costs one read of a year. */
const REFRESH_SECONDS = 4 * 3600;

interface Reading {
  words: PageWords["calendarFeed"];
  format: Pick<Format, "money" | "date">;
  /** BCP 47, the language of the words. */
  language: string;
  /** The site's host name, which makes the ids of events unique. */
  host: string;
}

/** The file's text, lines ending in CRLF. */
export function writeCalendar(facts: CalendarFacts, { words, format, language, host }: Reading): string {
  const last = facts.dates.at(-1);
  const calendar = ical({
    prodId: { company: host, product: "bills", language: language.toUpperCase() },
    method: ICalCalendarMethod.PUBLISH,
    name: escapeText(words.name(cleanLine(facts.organization))),
    // An app with no future dates must not suggest that no bill is due.
    ...(facts.is_cut && last && {
      description: escapeText(words.cut(format.date(last.due_on, { style: "day", today: "" }))),
    }),
    ttl: REFRESH_SECONDS,
  });
  for (const due of facts.dates) {
    calendar.createEvent({
      id: `${due.bill_id}-${due.due_on}@${host}`,
      start: due.due_on,
      allDay: true,
      summary: summaryOf(due, { words, format }),
      stamp: new Date(due.changed_at),
      // A due date must not mark a person as busy.
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  // The library omits the line end of the last line (RFC 5545 §3.1).
  return `${calendar.toString()}\r\n`;
}

/** The library escapes the texts of events but not the calendar's own (RFC 5545 §3.3.11), which have one line each. */
const escapeText = (line: string) => line.replace(/[\\;,]/g, "\\$&");

function summaryOf(due: DueDate, { words, format }: Pick<Reading, "words" | "format">): string {
  const name = cleanLine(due.name);
  const bill = due.dates > 1 ? words.several(name, due.dates) : name;
  const amount = due.amount === undefined ? undefined : format.money(due.amount, due.currency!);
  const said = amount && due.is_estimate ? words.about(amount) : amount;
  return words[due.autopay ? "autopay" : "due"](bill, said);
}
