/** @jsxImportSource hono/jsx */
/** Overdue and upcoming dates. People who can write can mark each as paid. */
import { type DatesInWindow, type DueDate, dueDates, type Glance } from "../../../shared/books/glance.ts";
import { daysAfter } from "../../../shared/iso_day.ts";
import { DateText, Name, Row } from "../../../shared/pages/components.tsx";
import type { Part } from "./part.ts";
import { SharedBill } from "./shared_line.tsx";
import { tellSums } from "./sums.ts";

/** Same as in `public.read_books`. */
const DAYS = 30;

/** The warning that totals lack unknown amounts. */
const UNKNOWN = "amount_missing.of_dates";

export function DueSection(
  { bills: { data: { bills, totals: windows }, totals_by_currency: totals, next_cursor: isCut, warnings }, ...part }:
    & Part
    & { bills: NonNullable<Glance["bills"]> },
) {
  const { glance, reader: { words: { books: words }, format } } = part;
  const until = daysAfter(glance.today, DAYS);
  const dates = dueDates(bills, until);
  return (
    <section>
      <h2>{words.due}</h2>
      {dates.length === 0 ? <p>{words.nothingDue}</p> : (
        <>
          <ul class="rows">{dates.map((date) => <DueRow {...part} date={date} until={until} />)}</ul>
          {totals && Object.keys(totals).length > 0 && (
            <p class="muted small after-rows">
              {words.dueTotal(tellSums(totals, format), {
                isEstimate: windows?.due.estimated !== undefined,
                isPartial: !!warnings?.some(({ code }) => code === UNKNOWN),
              })}
            </p>
          )}
        </>
      )}
      {bills.filter((bill) => bill.overdue_count).map((bill) => (
        <p class="small">{words.moreOverdue(<Name>{bill.name}</Name>, format.number(bill.overdue_count!))}</p>
      ))}
      {isCut && <p class="small">{words.moreBills} {glance.may_write && words.askForRest}</p>}
    </section>
  );
}

function DueRow({ date, until, ...part }: Part & { date: DueDate; until: string }) {
  const { glance, reader: { words: { books: words }, format } } = part;
  const { bill, dueOn, amount, currency, isEstimate, isOverdue, all } = date;
  const day = <DateText at={dueOn} format={format} />;
  return (
    <Row action={glance.may_write && <Pay {...part} date={date} />}>
      <h3>
        <Name>{bill.name}</Name>
      </h3>
      <p>
        {amount !== undefined
          ? isEstimate ? words.estimate(format.money(amount, currency)) : format.money(amount, currency)
          : bill.usual_amount !== undefined
          ? words.estimate(format.money(bill.usual_amount, bill.currency))
          : words.unknownAmount}
      </p>
      <p class="muted small">
        {isOverdue ? words.overdueSince(day) : words.dueOn(day)}
        {bill.autopay && ` · ${words.autopay}`}
      </p>
      {all && <p class="muted small">{said(all, { ...part, bill, until })}</p>}
      <SharedBill {...part} bill={bill} />
    </Row>
  );
}

/** The part of the totals that belongs to a bill with more dates than are shown. */
function said(
  { count, amount }: DatesInWindow,
  { bill: { amount_mode: mode, currency }, until, reader: { words: { books: { allDates } }, format } }:
    & Part
    & Pick<DueDate, "bill">
    & { until: string },
) {
  const dates = allDates.count(format.number(count), <DateText at={until} format={format} />);
  return amount === undefined ? dates : allDates[mode](dates, format.money(amount, currency));
}

/** Submits the shown date and amount. The idempotency key makes a repeated submission harmless. */
function Pay({ date, glance, token, reader: { words: { books: words }, format } }: Part & { date: DueDate }) {
  const { bill, dueOn, amount, currency, isEstimate } = date;
  const day = format.date(dueOn);
  return (
    <form method="post" action="/books" class="press">
      <input type="hidden" name="form_token" value={token} />
      <input type="hidden" name="action" value="pay" />
      <input type="hidden" name="organization" value={glance.organization.id} />
      <input type="hidden" name="bill" value={bill.id} />
      <input type="hidden" name="due_on" value={dueOn} />
      <input type="hidden" name="key" value={crypto.randomUUID()} />
      {amount !== undefined && <input type="hidden" name="shown" value={amount} />}
      {(amount === undefined || isEstimate) && (
        <input
          class="short"
          name="amount"
          type="text"
          inputmode="decimal"
          required
          value={amount ?? ""}
          aria-label={words.amountOf(bill.name, day, currency)}
          placeholder={currency}
        />
      )}
      <button type="submit" aria-label={words.payOf(bill.name, day)}>{words.pay}</button>
    </form>
  );
}
