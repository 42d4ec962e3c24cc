/** @jsxImportSource hono/jsx */
/** A month's spending by category, as bars. A screen reader reads categories with amounts. */
import { addAmounts } from "../../../shared/amounts.ts";
import type { Budget, Glance } from "../../../shared/books/glance.ts";
import { monthsAfter } from "../../../shared/iso_day.ts";
import { Bar, Name, Row } from "../../../shared/pages/components.tsx";
import { booksPath } from "../../../shared/urls.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import type { Part } from "./part.ts";

export function MonthSection({ spending: { data }, ...part }: Part & { spending: NonNullable<Glance["spending"]> }) {
  const { glance, reader: { words: { books: words }, catalog, format } } = part;
  const { total, budgets, unconverted } = data;
  // A category with spending only in the previous month has no bar.
  const rows = data.rows.filter(({ count }) => count > 0);
  const notConverted = unconverted?.map(({ amount, currency }) => format.money(amount, currency)).join(" · ");
  const alone = notConverted ? words.withoutRate(notConverted, total.currency) : words.nothingSpent;
  const most = Math.max(...rows.map(({ amount }) => Number(amount)), 0);
  return (
    <section id="month">
      <h2>{words.month(format.month(glance.month))}</h2>
      {rows.length === 0 ? <p>{alone}</p> : (
        <>
          <ol class="bars">
            {rows.map(({ group: [name], amount }) => (
              <li>
                <span>{typeof name === "string" ? <Name>{name}</Name> : catalog.groups[name.none]}</span>
                <span class="amount">{format.money(amount, total.currency)}</span>
                <Bar amount={Number(amount)} most={most} />
              </li>
            ))}
          </ol>
          <p class="after-rows">
            <strong>{words.total(format.money(total.amount, total.currency))}</strong>
          </p>
          {notConverted && <p class="small">{words.unconverted(notConverted)}</p>}
        </>
      )}
      <Income {...part} />
      <Months {...part} />
      {budgets && budgets.length > 0 && <Budgets {...part} budgets={budgets} />}
    </section>
  );
}

/** The income that the reader may see; absent without any. */
function Income({ glance: { income }, reader: { words: { books: words }, format } }: Part) {
  if (!income) return null;
  const { total, unconverted } = income.data;
  const sums = [...(total.count > 0 ? [total] : []), ...unconverted];
  return sums.length > 0 &&
    <p>{words.income(sums.map(({ amount, currency }) => format.money(amount, currency)).join(" · "))}</p>;
}

function Months({ glance, reader: { words: { books: words }, format } }: Part) {
  const before = monthsAfter(glance.month, -1);
  const after = monthsAfter(glance.month, 1);
  const address = (month: string) => `${booksPath(glance.organization.id)}&month=${month.slice(0, 7)}#month`;
  return (
    <nav aria-label={words.months} class="actions">
      <a href={address(before)}>{words.previous(format.month(before))}</a>
      {after <= glance.today && <a href={address(after)}>{words.next(format.month(after))}</a>}
    </nav>
  );
}

function Budgets({ budgets, reader }: Part & { budgets: readonly Budget[] }) {
  const { words: { books: words } } = reader;
  return (
    <>
      <h3 class="after-rows">{words.budgets}</h3>
      <ul class="rows">
        {budgets.map((budget) => (
          <Row>
            <p>
              {!budget.category
                ? words.budget.whole[budget.per]
                : budget.per === "year"
                ? words.budget.yearly(<Name>{budget.category}</Name>)
                : <Name>{budget.category}</Name>}
            </p>
            <p class={isOver(budget) ? "overdue small" : "muted small"}>{leftOf(budget, reader)}</p>
          </Row>
        ))}
      </ul>
    </>
  );
}

const isOver = ({ left, used_percent: used }: Budget): boolean => used === undefined || left.startsWith("-");

/** The rest of the budget for all spending, including carry-over. */
export function leftOf(
  { amount, carried, spent, left, used_percent: used, currency }: Budget,
  { words: { books: { budget: words } }, format }: Reader,
): string {
  if (used === undefined) return words.usedBefore(format.money(spent, currency));
  const limit = format.money(carried ? addAmounts(amount, carried) : amount, currency);
  return left.startsWith("-")
    ? words.over(format.money(left.slice(1), currency), limit)
    : words.left(format.money(left, currency), limit);
}
