/**
 * The scripted conversation: a person's sentences, an assistant's calls, and its replies based on the results. A
 * second run on the same data adapts its calls.
 */
import { day, money, plural, table } from "./wording.ts";

// deno-lint-ignore no-explicit-any -- envelopes are read field by field, as a model would
export type Envelope = any;

export interface Turn {
  you: string;
  tool: string;
  /** Arguments, or a function of earlier results; undefined skips the turn. */
  args: Record<string, unknown> | ((earlier: Record<string, Envelope>) => Record<string, unknown> | undefined);
  /** The reply after a successful call; for errors, `explain` replies. */
  answer(envelope: Envelope): string;
}

export const TURNS: Turn[] = [
  {
    you: "Hello! Which books are you looking at?",
    tool: "get_context",
    args: {},
    answer: ({ context, data }) =>
      `Those of ${context.organization.name}, on the ${data.plan.name} plan. You are ${article(data.role)} there, ` +
      `amounts are in ${context.base_currency} and today is ${day(context.today)}.`,
  },
  {
    you: "Log 14.50 EUR for lunch yesterday, at the Corner Bistro.",
    tool: "log_expenses",
    args: {
      items: [{ name: "Lunch", amount: "14.50", currency: "EUR", date: "yesterday", payee: "Corner Bistro" }],
    },
    answer({ data: { results: [lunch] } }) {
      if (lunch.status === "duplicate") return "That lunch is already in the books, so I wrote nothing.";
      return `Done: ${lunch.name}, ${money(lunch)}, on ${day(lunch.date)}, under ${lunch.category}.`;
    },
  },
  {
    you: "What is due this week?",
    tool: "list_bills",
    args: { due_within_days: 7 },
    answer({ data: { bills, totals } }) {
      if (bills.length === 0) return "Nothing is due in the next seven days.";
      const rows = bills.map((bill: Envelope) => [
        bill.name,
        bill.overdue.length > 0 ? `overdue since ${day(bill.overdue[0].due_on)}` : day(bill.next_due),
        // Several dates of one bill share a row, but the total counts each.
        bill.amount
          ? (bill.due_in_window?.count > 1 ? `${bill.due_in_window.count} × ${money(bill)}` : money(bill))
          : bill.usual_amount
          ? `about ${money({ ...bill, amount: bill.usual_amount })}`
          : "amount not known yet",
      ]);
      const { due } = totals;
      const estimate = due.estimated ? `, of which ${money({ ...due, amount: due.estimated })} is an estimate` : "";
      return `${plural(bills.length, "bill")}, ${money(due)} together${estimate}:\n${table(rows, 2)}`;
    },
  },
  {
    you: "I have just paid the rent.",
    tool: "mark_bill_paid",
    args: { bill_name: "rent" },
    answer: ({ data: { name, payment, next_due } }) =>
      `Noted: ${name}, ${money(payment)}, paid on ${day(payment.paid_on)}.` +
      (next_due ? ` The next one is due on ${day(next_due)}.` : ""),
  },
  {
    you: "Add Netflix, 15.99 a month from the 5th, and remind me three days before.",
    tool: "add_bill",
    args: {
      name: "Netflix",
      amount: "15.99",
      month_days: [5],
      remind_days_before: 3,
      category: "Subscriptions",
    },
    answer({ data: { bill, next_dates, first_reminder_on, status } }) {
      if (status === "duplicate") return `${bill.name} is already one of your bills, so I added nothing.`;
      return `Added: ${bill.name}, ${money(bill)}, ${bill.schedule_text}. Next on ${next_dates.map(day).join(", ")}` +
        (first_reminder_on ? `; the first reminder goes out on ${day(first_reminder_on)}.` : ".");
    },
  },
  {
    you: "Where did the money go last month?",
    tool: "summarize_spending",
    args: { period: "last_month", group_by: ["category"], top: 6 },
    answer({ data: { period, rows, total, unconverted = [] } }) {
      if (rows.length === 0) return `Nothing was spent between ${day(period.from)} and ${day(period.to)}.`;
      const lines = rows.map((row: Envelope) => [
        row.group.join(", "),
        money({ amount: row.amount, currency: total.currency }),
        `${row.share_percent} %`,
      ]);
      const rest = unconverted.map((part: Envelope) => money(part)).join(", ");
      return `${money(total)} in ${plural(total.count, "payment")}, mostly:\n${table(lines, 1)}` +
        (rest && `\nNot counted, because there is no exchange rate: ${rest}.`);
    },
  },
  {
    you: "Come to think of it, Netflix is part of my phone plan. Undo that.",
    tool: "undo_change",
    args: ({ add_bill }) => add_bill?.change_id && { change_id: add_bill.change_id },
    answer: ({ data: { undone } }) => `Taken back: “${undone.summary}”.`,
  },
];

/** An error as an assistant would report it; shorter for the error that only a second run gets. */
export function explain({ error }: Envelope): string {
  if (error.code === "already_paid") return "That is already marked as paid, so I changed nothing.";
  return [error.message, error.hint].filter(Boolean).join(" ");
}

const article = (role: string) => role === "owner" ? "its owner" : `a ${role}`;
