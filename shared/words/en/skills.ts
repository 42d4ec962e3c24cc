/** A guide for assistants before they keep books, besides the prompts. Loaded at the first request. */
export const guide = {
  description: "How to keep a household's or small company's expenses and bills here, and what to ask people.",
  text: `\
# Keeping the books

Report a tool's answer with its numbers. Ask when a name, an amount or a date is not certain; a wrong guess in the books is found late.

## What goes where
- Money that was spent once: log_expenses. Several in one call, each with the day it was paid, as the person said it.
- What recurs, or is due later: add_bill, once. A payment of it is mark_bill_paid, never log_expenses, or it counts twice.
- A bank's or card's statement: import_expenses. Its preview shows what the books have already; questions are the person's to answer.
- A receipt or an invoice as a file: attach_document.
- What an account had on a day: log_expenses with kind "balance", or the closing balance of its statement. Say its day with it.
- Money between members: settle_up. Transfers between own accounts are not spending.

## Each week
1. list_bills for what is overdue and due in seven days.
2. Mark as paid only what the person says is paid.
3. list_expenses with categories ["Uncategorized"]: propose a category for each.

## Each month
1. Import the statements of all accounts, then reconcile each.
2. summarize_spending with compare previous_period: the total, then the largest changes.
3. review_bills: prices that rose, trials that end, contracts to cancel in time.

## Before and after a change
- Show a preview before anything with many rows, and wait for a yes.
- An answer of awaiting_approval means that somebody else decides. Say who; don't try another way.
- Every change has a change_id. undo_change takes it back for 30 days, so correct by undoing rather than by a second entry.
`,
};
