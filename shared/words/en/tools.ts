/**
 * Each tool's title, for people, and its description, for models. Its contract describes the fields of its arguments.
 */
export const tools = {
  get_context: {
    title: "Get workspace context",
    description:
      "Organization, today, categories, plan, role, waiting proposals; on request payees, settings, members, balances (accounts; who owes whom), changes.",
  },
  list_expenses: {
    title: "List expenses",
    description: "Spending or kind income, newest first, all time without from or to. Totals cover all.",
  },
  summarize_spending: {
    title: "Summarize spending",
    description: "Spending, or kind income or net, in one currency, grouped; budgets. Filters as in list_expenses.",
  },
  show_spending_chart: {
    title: "Show spending chart",
    description: "A chart for the user, or else a table.",
  },
  list_bills: {
    title: "List bills",
    description: "Bills with their next or overdue date. With bill_id: its payments, prices and next dates.",
  },
  review_bills: {
    title: "Review bills",
    description:
      "Findings: overdue bills, price rises, unusual amounts, duplicates, double or missing charges, trials, cancel-by dates, savings, charges without a bill, provider failures.",
  },
  forecast: {
    title: "Forecast balances",
    description:
      "Expected balances of accounts, in total and each: low, likely, high, the lowest day, also after a planned spend.",
  },
  list_documents: {
    title: "List documents",
    description: "Documents, newest first: what was read, where each is attached.",
  },
  reconcile: {
    title: "Reconcile",
    description: "Compares an account's statements with the books: rows missing on either side.",
  },
  log_expenses: {
    title: "Log expenses",
    description: "Records expenses, refunds, income, all or none. balance: what account name had on date. Not bills.",
  },
  import_expenses: {
    title: "Import expenses from a file",
    description:
      "1. No arguments: a link to upload a bank's file; or csv, a short text. 2. import_id: a preview with questions and what else to pass. 3. preview.commit_with writes it.",
  },
  update_expenses: {
    title: "Update expenses",
    description: "Changes or merges records by ids, or up to 500 by filter (dry_run, then confirm).",
  },
  add_bill: {
    title: "Add bill",
    description: "Creates a recurring or one-time bill with reminders. variable: amounts differ.",
  },
  update_bill: {
    title: "Update bill",
    description:
      "Changes, pauses, resumes or cancels a bill here (not the contract with the payee), changes one date, or connects a provider.",
  },
  draft_cancellation: {
    title: "Draft a cancellation",
    description: "Writes a letter or mail that cancels a bill's contract. Sends nothing.",
  },
  mark_bill_paid: {
    title: "Mark bill paid",
    description:
      "Records a payment of a bill's due or overdue date, or of due_on. Without amount: all that remains. due_on of a paid date corrects it.",
  },
  sync_bill_amounts: {
    title: "Fetch bill amounts",
    description: "Fetches amounts of connected bills from their providers now.",
  },
  delete_records: {
    title: "Delete expenses or bills",
    description: "Deletes expenses by ids or filter, or one bill with its payments; undo_change restores them.",
  },
  attach_document: {
    title: "Attach a document",
    description: "No arguments: a link to upload documents. document_id: attaches one. Pays nothing.",
    /** Where the tool shows its file argument. */
    descriptionOfFile: "Stores file or gives an upload link. document_id: attaches one. Pays nothing.",
  },
  settle_up: {
    title: "Settle up",
    description: "Records money one member gave another for shared costs.",
  },
  undo_change: {
    title: "Undo a change",
    description:
      "Reverses one write: this connection's latest of the last 30 minutes, or change_id. Undoing an undo redoes it.",
  },
  update_settings: {
    title: "Update settings",
    description:
      "Time zone, base currency, reminders, categories, budgets, payee rules, closed months, what members see.",
  },
  decide_proposal: {
    title: "Decide a proposal",
    description: "Approves, refuses or withdraws a write that waits for approval (see get_context).",
  },
};
