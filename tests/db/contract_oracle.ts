/** Ends of contracts by walking the calendar day by day, independently of the SQL. */
import { daysAfter } from "../../shared/iso_day.ts";

export interface Contract {
  started_on?: string;
  term_months?: number;
  renewal_months?: number;
  notice?: string;
}

export interface Bill {
  renews_on?: string;
  notice_days?: number;
  contract?: Contract;
}

export interface Exit {
  leaves_on: string | null;
  cancel_by: string | null;
}

/** The day with the same number this many months later, or that month's last day. */
function monthsLater(day: string, months: number): string {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, last))).toISOString().slice(0, 10);
}

/** The first day after a term that begins on a day and lasts this many months (BGB § 188 II and III). */
function afterTerm(day: string, months: number): string {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  const length = new Date(Date.UTC(year, month + months, 0)).getUTCDate();
  const lastDay = Math.min(date - 1, length);
  return new Date(Date.UTC(year, month - 1 + months, lastDay + 1)).toISOString().slice(0, 10);
}

/** The last day of a notice that arrives on a day. */
function endOfNotice(day: string, notice: string): string {
  const [count, unit] = notice.split(" ") as [string, string];
  if (unit === "months") return monthsLater(day, Number(count));
  return daysAfter(day, Number(count) * (unit === "weeks" ? 7 : 1));
}

const isLastDayOf = (until: string, day: string): boolean => {
  const next = daysAfter(day, 1);
  if (until === "day") return true;
  return next.endsWith("-01") && (until === "month" || ["01", "04", "07", "10"].includes(next.slice(5, 7)));
};

/** The first way out from `today`, as far as the facts determine it. */
export function exitOf({ renews_on, notice_days, contract = {} }: Bill, today: string): Exit {
  const { started_on, term_months, notice } = contract;
  const nothing: Exit = { leaves_on: null, cancel_by: null };
  if (notice === undefined && notice_days === undefined) return nothing;
  const renewal = contract.renewal_months ?? (renews_on === undefined ? undefined : 12);
  const base = renews_on ?? started_on;
  const offset = renews_on === undefined ? term_months : 0;
  const first = base === undefined || offset === undefined ? undefined : afterTerm(base, offset);
  const isInTime = (day: string, leaves: string) =>
    notice === undefined ? daysAfter(day, notice_days!) <= leaves : endOfNotice(day, notice) <= daysAfter(leaves, -1);
  const isExit = (leaves: string): boolean => {
    const said = notice?.split(" to ")[1];
    const until = said ?? (renewal !== undefined && renewal > 0 || first !== undefined && first >= today ? "term" : "");
    if (until === "") return false;
    if (until !== "term") {
      if (first === undefined && term_months !== 0) return false;
      return (first === undefined || leaves >= first) && isLastDayOf(until, daysAfter(leaves, -1));
    }
    if (first === undefined) return false;
    if (leaves === first) return true;
    if (!renewal) return false;
    for (let n = 1; afterTerm(base!, offset! + n * renewal) <= leaves; n++) {
      if (afterTerm(base!, offset! + n * renewal) === leaves) return true;
    }
    return false;
  };
  for (let ahead = 1; ahead < 366 * 6; ahead++) {
    const leaves = daysAfter(today, ahead);
    if (!isInTime(today, leaves) || !isExit(leaves)) continue;
    let day = today;
    while (isInTime(daysAfter(day, 1), leaves)) day = daysAfter(day, 1);
    return { leaves_on: leaves, cancel_by: day };
  }
  return nothing;
}
