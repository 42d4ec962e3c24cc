/**
 * The prompts, which a person picks from a menu as the first message of a conversation. They name the calls, and the
 * tools provide every number.
 */

export interface PromptWords {
  title: string;
  description: string;
  /** An optional argument and its description. */
  argument?: { name: string; description: string };
  /** @param filledIn the argument, quoted as data */
  text(filledIn: string | undefined): string;
}

export const prompts = {
  weekly_bills: {
    title: "Bills this week",
    description: "Bills that are overdue or due in the next seven days, and the next steps.",
    text: () =>
      `\
Show me my bills for this week.
1. Call list_bills with due_within_days 7.
2. Begin with overdue bills, then day by day: name, amount, whether it is paid automatically. Say the total to pay from totals.due.
3. Say which amounts are not known yet.
4. Ask which of them I have paid already. Mark those with mark_bill_paid, one call per bill, and no others.`,
  },
  month_close: {
    title: "Close the month",
    description: "Review a month before filing it: totals, changes, gaps, open bills.",
    argument: { name: "month", description: "YYYY-MM; last month when left out." },
    text: (month) =>
      `\
Help me close ${month ? `the month "${month}" (from its first to its last day)` : "last month"}.
1. Call summarize_spending for it, grouped by category, with compare previous_period. Give the total first, then the three largest changes.
2. Call summarize_spending with kind refund, and list_bills with state overdue: name the refunds and the bills that are still open.
3. Call list_expenses with categories ["Uncategorized"] for the same days. Propose a category for each, and only after I \
agree change them: an expense with update_expenses, a bill_payment by its bill (update_bill with its bill_id and set.category).
4. Say what could not be converted, and anything in warnings. Change nothing else.`,
  },
  subscription_audit: {
    title: "Review my subscriptions",
    description: "What recurs, what got more expensive, what to cancel and by when.",
    text: () =>
      `\
Review my subscriptions and other recurring bills.
1. Call review_bills, and list_bills with status active.
2. Sort by monthly_equivalent, the largest first, and give totals.monthly and totals.yearly.
3. Say what rose in price, what looks like a duplicate, which trials end, and by which day each contract must be cancelled. Use the \
findings as they are; do not recompute them.
4. Suggest bills that I could drop. Cancel or pause only those that I name, with update_bill.`,
  },
  import_statement: {
    title: "Import a statement",
    description: "Import expenses from a statement's file, after a preview of what would be written.",
    argument: {
      name: "currency",
      description: "ISO 4217, only if the file names none and it is not the organization's currency.",
    },
    text: (currency) =>
      `\
I want to import a bank or card statement.
1. Call import_expenses${
        currency ? ` with default_currency "${currency}"` : " without arguments"
      } and give me the link, where I upload the file. Only a short file that you already have goes into csv, unchanged.
2. When I say that it is uploaded, call import_expenses with the import_id and show me the preview: how many rows and totals, what was left out, \
what is in the books already, what was assumed in mapping, the rows that cannot be read and why, and categories that do not exist yet.
3. Ask me the questions in questions, and call again with answers. My other wishes go into skip_lines, corrections or rules; never send rows yourself.
4. Only when I agree, call import_expenses with exactly preview.commit_with. Tell me that one undo_change with the change_id undoes all of it.`,
  },
} satisfies Record<string, PromptWords>;
