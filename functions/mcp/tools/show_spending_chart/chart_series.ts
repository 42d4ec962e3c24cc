/** Arranges the database's sums as a chart's series of points. */
import * as z from "zod/mini";
import { addAmounts, amountOf, minorOf } from "../../../../shared/amounts.ts";
import { Group, Money } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";

const Unit = z.enum(["day", "week", "month"]);
type Unit = z.infer<typeof Unit>;

const Budget = z.object({
  category: z.optional(z.nullable(z.string())),
  amount: z.string(),
  carried: z.optional(z.string()),
  spent: z.string(),
  used_percent: z.optional(z.number()),
  set_on: z.optional(z.string()),
});
type Budget = z.infer<typeof Budget>;

/** Time steps come last in a group. */
const Row = z.object({ group: z.array(Group), amount: z.string() });

export const Spent = z.object({
  chart: z.enum(["by_category", "over_time", "category_over_time"]),
  rows: z.array(Row),
  today: z.string(),
  books_begin: z.optional(z.string()),
  budgets: z.optional(z.array(Budget)),
  period: z.object({ from: z.string(), to: z.string(), name: z.optional(z.string()) }),
  compared: z.optional(z.object({ from: z.string(), to: z.string(), amount: z.optional(z.string()) })),
  total: z.extend(Money, { count: z.number() }),
  currency: z.string(),
  unconverted: z.array(Money),
  unit: z.optional(Unit),
});
export type Spent = z.infer<typeof Spent>;

export const Upcoming = z.object({
  chart: z.literal("upcoming_bills"),
  /** Covers one bill, one date or several. */
  lines: z.array(z.object({
    bill_id: z.string(),
    label: z.string(),
    x: z.string(),
    y: z.string(),
    to: z.string(),
    dates: z.number(),
    is_estimate: z.optional(z.boolean()),
  })),
  today: z.string(),
  unknown_amounts: z.array(z.string()),
  total: z.extend(Money, { count: z.number(), overdue: z.number(), estimated: z.optional(z.string()) }),
  period: z.object({ to: z.string() }),
  currency: z.string(),
  unconverted: z.array(Money),
});
export type Upcoming = z.infer<typeof Upcoming>;

interface Limit {
  amount: string;
  used_percent?: number;
  set_on?: string;
}

/** A bar, a column, or a bill's dates. */
export interface Point {
  x: string;
  y: string;
  budget?: Limit;
  partial?: boolean;
  estimate?: boolean;
  overdue?: boolean;
  dates?: number;
  to?: string;
}

export interface Series {
  label: string;
  bill_id?: string;
  points: Point[];
}

/**
 * One series with a bar per category, in the order of the rows, each with its budget. A category with a budget has a
 * bar even without spending.
 */
export function barSeries(
  { rows, budgets = [] }: Pick<Spent, "rows" | "budgets">,
  { chart, groups }: Words,
): [Series] {
  const limits = new Map(budgets.flatMap((budget) => budget.category ? [[budget.category, budget]] : []));
  const unspent = [...limits].filter(([category, { spent }]) =>
    minorOf(spent) === 0n && !rows.some(({ group: [name] }) => name === category)
  );
  return [{
    label: chart.spending,
    points: [
      ...rows.map(({ group: [name], amount }) => ({
        x: nameOf(name!, groups),
        y: amount,
        ...(typeof name === "string" && limits.has(name) && { budget: limitOf(limits.get(name)!) }),
      })),
      ...unspent.map(([x, budget]) => ({ x, y: budget.spent, budget: limitOf(budget) })),
    ],
  }];
}

/**
 * The available amount including carry-over; the used percentage, absent when nothing was available; and the day on
 * which a budget was set after the period.
 */
export const limitOf = ({ amount, carried, used_percent, set_on }: Budget): Limit => ({
  amount: carried ? addAmounts(amount, carried) : amount,
  ...(used_percent !== undefined && { used_percent }),
  ...(set_on && { set_on }),
});

/** One column per step, including empty steps; one series per category, or a single one for the total. */
export function columnSeries(facts: Spent, { chart, groups }: Words): Series[] {
  const steps = stepsOf(facts);
  const zero = amountOf(0n, facts.total.amount);
  const named = facts.rows.map(({ group, amount }) => ({
    label: group.length > 1 ? nameOf(group[0]!, groups) : chart.spending,
    key: JSON.stringify(group.slice(0, -1)),
    x: dayOf(group),
    amount,
  }));
  return [...Map.groupBy(named, ({ key }) => key).values()].map((points) => {
    const amounts = new Map(points.map(({ x, amount }) => [x, amount]));
    return {
      label: points[0]!.label,
      points: steps.map(({ x, partial }) => ({ x, y: amounts.get(x) ?? zero, ...(partial && { partial }) })),
    };
  });
}

/** The sum of each step of several series. */
export const stepTotals = (series: readonly Series[]): string[] =>
  series[0]!.points.map(({ y }, step) =>
    amountOf(series.reduce((sum, { points }) => sum + minorOf(points[step]!.y), 0n), y)
  );

/** One series per bill with its points by date; a point for several dates has their number and the last date. */
export function billSeries({ lines, today }: Pick<Upcoming, "lines" | "today">): Series[] {
  const bills = Map.groupBy(lines, ({ bill_id }) => bill_id);
  return [...bills].map(([bill_id, its]) => ({
    label: its[0]!.label,
    bill_id,
    points: its.map(({ x, y, to, dates, is_estimate }) => ({
      x,
      y,
      ...(is_estimate && { estimate: true }),
      ...(x < today && { overdue: true }),
      ...(dates > 1 && { dates }),
      ...(to > x && { to }),
    })),
  }));
}

const dayOf = (group: readonly Group[]) => group.at(-1) as string;

const nameOf = (name: Group, groups: Words["groups"]) => typeof name === "string" ? name : groups[name.none];

/** A step is partial when the period covers only part of it or it is still running; a day is always complete. */
function stepsOf({ period: { from, to }, unit = "day", today, rows }: Spent): { x: string; partial: boolean }[] {
  const until = to < today ? to : today;
  const latest = [until, from, ...rows.map(({ group }) => beginOf(dayOf(group), unit))].toSorted().at(-1)!;
  const steps = [];
  for (let day = beginOf(from, unit); day <= latest;) {
    const next = nextOf(day, unit);
    const partial = unit !== "day" && (day < from || nextOf(until, "day") < next);
    steps.push({ x: unit === "month" ? day.slice(0, 7) : day, partial });
    day = next;
  }
  return steps;
}

/** The first day of the step that contains a day or month; weeks begin on Monday (ISO 8601). */
function beginOf(day: string, unit: Unit): string {
  if (unit === "month") return `${day.slice(0, 7)}-01`;
  return unit === "day" ? day : moved(day, { days: -((new Date(day).getUTCDay() + 6) % 7) });
}

const nextOf = (day: string, unit: Unit): string =>
  moved(day, { day: { days: 1 }, week: { days: 7 }, month: { months: 1 } }[unit]);

function moved(day: string, { days = 0, months = 0 }: { days?: number; months?: number }): string {
  const date = new Date(day);
  date.setUTCMonth(date.getUTCMonth() + months, date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}
