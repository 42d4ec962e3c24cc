/** Lays out the database's sums as a chart's series of points. */
import { addAmounts, amountOf, minorOf } from "../../../shared/amounts.ts";
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

type Unit = "day" | "week" | "month";

/**
 * One series with a bar per category, in the order of the rows, each with its budget. A category with a budget has a
 * bar even if nothing was spent.
 */
export function barSeries({ rows, budgets = [] }: Facts, { chart, groups }: Words): Facts[] {
  const limits = new Map<string, Facts>(
    budgets.filter(({ category }: Facts) => category).map((budget: Facts) => [budget.category, budget]),
  );
  const unspent = [...limits.values()].filter(({ category, spent }) =>
    minorOf(spent) === 0n && !rows.some(({ group: [name] }: Facts) => name === category)
  );
  return [{
    label: chart.spending,
    points: [
      ...rows.map(({ group: [name], amount }: Facts) => ({
        x: nameOf(name, groups),
        y: amount,
        ...(typeof name === "string" && limits.has(name) && { budget: limitOf(limits.get(name)!) }),
      })),
      ...unspent.map((budget) => ({ x: budget.category, y: budget.spent, budget: limitOf(budget) })),
    ],
  }];
}

/** The available amount including carry-over, and the used percentage, which is absent when nothing was available. */
export const limitOf = ({ amount, carried, used_percent }: Facts): Facts => ({
  amount: carried ? addAmounts(amount, carried) : amount,
  ...(used_percent !== undefined && { used_percent }),
});

/** One column per step, including empty steps; one series per category, or a single one for the total. */
export function columnSeries(facts: Facts, { chart, groups }: Words): Facts[] {
  const steps = stepsOf(facts);
  const zero = amountOf(0n, facts.total.amount);
  const named: Facts[] = facts.rows.map(({ group, amount }: Facts) => ({
    label: group.length > 1 ? nameOf(group[0], groups) : chart.spending,
    key: JSON.stringify(group.slice(0, -1)),
    x: group.at(-1),
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
export const stepTotals = (series: Facts[]): string[] =>
  series[0]!.points.map(({ y }: Facts, step: number) =>
    amountOf(series.reduce((sum, { points }) => sum + minorOf(points[step].y), 0n), y)
  );

/** One series per bill with its points by date; a point for several dates has their number and the last date. */
export function billSeries({ lines, today }: Facts): Facts[] {
  const bills = Map.groupBy(lines as Facts[], ({ bill_id }) => bill_id);
  return [...bills].map(([bill_id, its]) => ({
    label: its[0].label,
    bill_id,
    points: its.map(({ x, y, to, dates, is_estimate }: Facts) => ({
      x,
      y,
      ...(is_estimate && { estimate: true }),
      ...(x < today && { overdue: true }),
      ...(dates > 1 && { dates }),
      ...(to > x && { to }),
    })),
  }));
}

const nameOf = (name: string | { none: keyof Words["groups"] }, groups: Words["groups"]) =>
  typeof name === "string" ? name : groups[name.none];

/** A step is partial when the period covers only a part of it or it is still running; a day is always complete. */
function stepsOf({ period: { from, to }, unit, today, rows }: Facts): { x: string; partial: boolean }[] {
  const until = to < today ? to : today;
  const latest = [until, from, ...rows.map(({ group }: Facts) => beginOf(group.at(-1), unit))].toSorted().at(-1);
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
