/** @jsxImportSource hono/jsx */
/** The state of the books in four numbers: overdue, due, spent and budgets. */
import type { Child } from "hono/jsx";
import { addAmounts } from "../../../shared/amounts.ts";
import { type DueDate, type Glance, lacksAmounts, type Sums } from "../../../shared/books/glance.ts";
import { DateText } from "../../../shared/pages/components.tsx";
import { leftOf } from "./month_section.tsx";
import type { Part } from "./part.ts";
import { listSums } from "./sums.ts";

interface Dues {
  bills: NonNullable<Glance["bills"]>;
  dates: readonly DueDate[];
  until: string;
}

export function Summary(
  { spending, ...props }: Part & Dues & { spending: NonNullable<Glance["spending"]> },
) {
  return (
    <dl class="summary">
      <Overdue {...props} />
      <Due {...props} />
      <Spent {...props} data={spending.data} />
      {!!spending.data.budgets?.length && <Budgets {...props} budgets={spending.data.budgets} />}
    </dl>
  );
}

function Cell({ name, value, note, isBad }: { name: Child; value: Child; note?: Child; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <div class={isBad ? "number overdue" : "number"}>{value}</div>
        {note && <div class="muted small">{note}</div>}
      </dd>
    </div>
  );
}

const Lines = ({ lines }: { lines: readonly string[] }) => (
  <>{lines.map((line, index) => <>{index > 0 && <br />}{line}</>)}</>
);

function Overdue({ bills: { data: { bills } }, dates, reader: { words: { books: words }, format } }: Part & Dues) {
  const overdue = dates.filter(({ isOverdue }) => isOverdue);
  if (overdue.length === 0) return <Cell name={words.overdue} value={words.nothing} />;
  const isCut = bills.some(({ overdue_count: count }) => count !== undefined);
  const count = bills.reduce((sum, bill) => sum + (bill.overdue_count ?? bill.overdue.length), 0);
  const payments = words.payments(count, format.number(count));
  return isCut || overdue.some(({ amount }) => amount === undefined)
    ? <Cell name={words.overdue} value={payments} isBad />
    : <Cell name={words.overdue} value={<Lines lines={listSums(sumsOf(overdue), format)} />} note={payments} isBad />;
}

function sumsOf(dates: readonly DueDate[]): Sums {
  const sums: Sums = {};
  for (const { amount, currency } of dates) {
    if (amount !== undefined) sums[currency] = sums[currency] ? addAmounts(sums[currency], amount) : amount;
  }
  return sums;
}

/** The tool's total, including overdue bills. */
function Due(
  { bills: { data: { totals }, totals_by_currency: sums, warnings }, dates, until, reader }: Part & Dues,
) {
  const { words: { books: words }, format } = reader;
  const name = words.dueBy(<DateText at={until} format={format} />);
  if (dates.length === 0) return <Cell name={name} value={words.nothing} />;
  const isEstimate = totals?.due.estimated !== undefined;
  const notes = [
    ...(dates.some(({ isOverdue }) => isOverdue) ? [words.withOverdue] : []),
    ...(lacksAmounts(warnings) ? [words.withoutUnknown] : []),
  ];
  return (
    <Cell
      name={name}
      value={Object.keys(sums ?? {}).length > 0
        ? words.about(<Lines lines={listSums(sums!, format)} />, isEstimate)
        : words.unknownAmount}
      note={notes.join(", ")}
    />
  );
}

function Spent(
  { glance, data: { total, unconverted }, reader: { words: { books: words }, format } }:
    & Part
    & Pick<
      NonNullable<Glance["spending"]>,
      "data"
    >,
) {
  const percent = total.change_percent ?? undefined;
  const change = percent && Math.round(percent);
  const notes = [
    ...(unconverted ?? []).map(({ amount, currency }) => words.plusUnconverted(format.money(amount, currency))),
    ...(change === undefined ? [] : [words.change({
      percent: format.percent(Math.abs(change)),
      change,
      isRunning: glance.today.startsWith(glance.month.slice(0, 7)),
    })]),
  ];
  return (
    <Cell
      name={words.month(format.month(glance.month))}
      value={format.money(total.amount, total.currency)}
      note={notes.length > 0 && <Lines lines={notes} />}
    />
  );
}

function Budgets({ budgets, reader }: Part & {
  budgets: NonNullable<NonNullable<Glance["spending"]>["data"]["budgets"]>;
}) {
  const { words: { books: words }, format } = reader;
  const over = budgets.filter(({ left }) => left.startsWith("-")).length;
  const whole = budgets.find(({ category, per }) => !category && per === "month");
  return (
    <Cell
      name={words.budgets}
      value={words.overBudget(over, format.number(over), format.number(budgets.length))}
      isBad={over > 0}
      note={whole && words.budget.all(leftOf(whole, reader))}
    />
  );
}
