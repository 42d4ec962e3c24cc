/** @jsxImportSource hono/jsx */
/** Overdue and upcoming dates; dates after a week are collapsed. People with write access can mark each as paid. */
import { type DatesInWindow, type DueDate, type Glance, isNew } from "../../../shared/books/glance.ts";
import { daysAfter } from "../../../shared/iso_day.ts";
import { DateText, Name, Paperclip, Row } from "../../../shared/pages/components.tsx";
import type { Part } from "./part.ts";
import { SharedBill } from "./shared_line.tsx";

interface Dues {
  bills: NonNullable<Glance["bills"]>;
  dates: readonly DueDate[];
  until: string;
}

export function DueSection({ bills: { data: { bills }, next_cursor: isCut }, dates, until, ...part }: Part & Dues) {
  const { glance, reader: { words: { books: words, firstSteps }, format } } = part;
  const isSoon = ({ dueOn }: DueDate) => dueOn < daysAfter(glance.today, 7);
  const isAwaited = ({ dueOn, isOverdue }: DueDate) => !isOverdue && dueOn < glance.today;
  const later = dates.filter((date) => !isSoon(date));
  const groups: [string, DueDate[]][] = [
    [words.overdue, dates.filter(({ isOverdue }) => isOverdue)],
    [words.awaited, dates.filter(isAwaited)],
    [words.thisWeek, dates.filter((date) => isSoon(date) && !date.isOverdue && !isAwaited(date))],
  ];
  const rows = (dates: readonly DueDate[]) => (
    <ul class="rows">{dates.map((date) => <DueRow {...part} date={date} until={until} />)}</ul>
  );
  return (
    <section>
      <h2>{words.due}</h2>
      {dates.length === 0 && (
        <p>
          {words.nothingDue} {isNew(glance) && firstSteps.billLead}
        </p>
      )}
      {groups.filter(([, dates]) => dates.length > 0).map(([name, dates]) => (
        <>
          <h3 class={name === words.overdue ? "group overdue" : "group"}>{name}</h3>
          {rows(dates)}
        </>
      ))}
      {bills.filter((bill) => bill.overdue_count).map((bill) => (
        <p class="muted small after-rows">
          {words.moreOverdue(<Name>{bill.name}</Name>, format.number(bill.overdue_count!))}
        </p>
      ))}
      {later.length > 0 && (
        <details class="after-rows" open={later.length === dates.length}>
          <summary>{words.later(later.length, format.number(later.length))}</summary>
          {rows(later)}
        </details>
      )}
      {isCut && <p class="muted small after-rows">{words.moreBills} {glance.may_write && words.askForRest}</p>}
    </section>
  );
}

function DueRow({ date, until, ...part }: Part & { date: DueDate; until: string }) {
  const { glance, reader: { words: { books: words }, format } } = part;
  const { bill, dueOn, amount, currency, isEstimate, isOverdue, all } = date;
  const day = <DateText at={dueOn} format={format} />;
  return (
    <Row action={glance.may_write && <Pay {...part} date={date} />}>
      <p class="title">
        <Name>{bill.name}</Name>
        {bill.has_document && dueOn === (bill.overdue[0]?.due_on ?? bill.next_due) &&
          <Paperclip label={words.hasDocument} />}
      </p>
      <p>
        {amount !== undefined
          ? isEstimate ? words.estimate(format.money(amount, currency)) : format.money(amount, currency)
          : bill.usual_amount !== undefined
          ? words.estimate(format.money(bill.usual_amount, bill.currency))
          : words.unknownAmount}
        <span class="muted small">
          {" · "}
          {isOverdue ? <span class="overdue">{words.overdueSince(day)}</span> : words.dueOn(day)}
          {bill.autopay && ` · ${words.autopay}`}
        </span>
      </p>
      {all && <p class="muted small">{said(all, { ...part, bill, until })}</p>}
      <SharedBill {...part} bill={bill} />
    </Row>
  );
}

/** The share of the totals from a bill with more dates than the page shows. */
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
