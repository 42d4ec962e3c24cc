/** A guide that assistants read before they keep books, besides the prompts. Loads at the first request. */
export const guide = {
  description: "How to keep a household's or small company's expenses and bills here, and what to ask people.",
  text: `\
# Keeping the books

Report a tool's answer with its numbers. Ask when a name, an amount or a date is not certain; a wrong guess in the books is hard to find later.

## What goes where
- One-off spending: log_expenses. Put several expenses into one call, each with its own day, as the person said it.
- A cost that recurs or is due later: add_bill, once. Record its payments with mark_bill_paid, never with log_expenses, or they count twice.
- A bank's or card's statement: import_expenses. Its preview shows which rows the books already have; only the person can answer its questions.
- A receipt or an invoice as a file: attach_document.
- The balance of an account on a day: log_expenses with kind "balance", or the closing balance of its statement. Always name the day.
- Money between members: settle_up. Transfers between own accounts are not spending.

## Each week
1. list_bills: bills that are overdue or due in seven days.
2. Mark a bill as paid only when the person says that it is.
3. list_expenses with categories ["Uncategorized"]: propose a category for each.

## Each month
1. Import the statements of all accounts, then reconcile each.
2. summarize_spending with compare previous_period: the total, then the largest changes.
3. review_bills: prices that rose, trials that end, contracts to cancel in time.

## Before and after a change
- Show a preview before anything with many rows, and wait for a yes.
- An answer of awaiting_approval means that somebody else decides. Say who; don't try another way.
- Every change has a change_id. undo_change reverts it for 30 days, so correct a mistake by undoing it, not with a second entry.
`,
};
