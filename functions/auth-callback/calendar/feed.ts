/**
 * Due dates for a person's calendar app. Apps support no credential except the address, so it can only read, and only
 * while its person has access.
 */
import type { CalendarFacts } from "../../../shared/calendar/facts.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { tokenOfFile } from "../../../shared/calendar/token.ts";
import { writeCalendar } from "../../../shared/calendar/feed_text.ts";
import { AppError } from "../../../shared/errors.ts";
import { calendarLimits, tooManyAttempts } from "../../../shared/http/quotas.ts";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { formatOf } from "../../../shared/words/format.ts";
import { localeOf } from "../../../shared/words/locale.ts";
import type { Handler, PageDeps } from "../page_guards.ts";

/** `/calendar/<token>.ics` */
export const getCalendar = (deps: PageDeps): Handler => async (c) => {
  const token = tokenOfFile(c.req.param("file") ?? "");
  if (!token) throw unknownCalendar();
  const limits = await calendarLimits(deps.config, c);
  const answer = await deps.calendars.read({ tokenHash: hashToken(token), limits, at: deps.clock() });
  if (answer.outcome === "limited") throw tooManyAttempts(answer.retry_after);
  if (answer.outcome === "unknown") throw unknownCalendar();
  return asFile(c, deps, answer.calendar);
};

function asFile(c: AppContext, { config }: PageDeps, facts: CalendarFacts): Response {
  const { language, words } = c.get("reader");
  const format = formatOf(localeOf({ language: new Intl.Locale(language).language, country: facts.country }));
  const host = new URL(config.siteUrl).hostname;
  return c.body(writeCalendar(facts, { words: words.calendarFeed, format, language, host }), 200, {
    "content-type": "text/calendar; charset=utf-8",
    "content-disposition": 'attachment; filename="bills.ics"',
    // Only the app may cache it, and it must revalidate each time.
    "cache-control": "private, no-cache",
    "vary": "accept-language",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
  });
}

/** The same response for every invalid address, whatever the reason. */
const unknownCalendar = () => new AppError("not_found", "no such calendar");
