/**
 * What each tool is called, for people, and what it does, for models. The fields of its arguments are described in its
 * contract: they are part of it.
 */
export const tools = {
  get_context: {
    title: "Get workspace context",
    description:
      "Organization, base currency, timezone, today, plan and features, categories, reminder settings; recent changes on request. Call once before other tools when unsure.",
  },
  list_expenses: {
    title: "List expenses",
    description:
      "Money that left: one-off expenses, bill payments, refunds; newest first. Totals, also of tax (VAT), cover every match, not only this page. format=csv returns every match: as text, or as csv_url if it is long.",
  },
  summarize_spending: {
    title: "Summarize spending",
    description:
      "Totals for a period by category, payee, tag, month, week, day, currency or member, converted at each payment date's rate, with what is left of budgets. Use instead of adding list_expenses rows.",
  },
  show_spending_chart: {
    title: "Show spending chart",
    description:
      "Render an interactive chart for the user (text table where charts are unsupported). For numbers only, use summarize_spending.",
  },
  list_bills: {
    title: "List bills",
    description:
      'Recurring and scheduled bills with the current due occurrence and its state. Use due_within_days:7 for "due this week". With bill_id, returns one bill with schedule, history, price changes and next 6 dates.',
  },
  review_bills: {
    title: "Review bills",
    description:
      "Deterministic findings: overdue, price rises, unusual variable amounts, possible duplicates, trials and cancel-by dates in the next N days, provider links needing attention. Narrate them; do not recompute.",
  },
  reconcile: {
    title: "Reconcile",
    description:
      "What an account's statements have and the books do not, and the other way round, in a period. totals.difference is 0 when they agree.",
  },
  log_expenses: {
    title: "Log expenses",
    description:
      'Record 1-100 one-off expenses or refunds. All or nothing. A likely duplicate (same date, amount, currency, payee) is not written unless on_duplicate is "allow".',
  },
  import_expenses: {
    title: "Import expenses from a file",
    description:
      "1. Pass nothing: returns upload.url for the user to open and upload a bank's file (<=50,000 rows, 10 MB); or csv, a short file's unchanged text. 2. import_id: returns a preview, or import while the file is still being read: call again. Ask the user its questions and pass answers, or skip_lines, corrections, rules. 3. preview.commit_with writes. Expires after 24 h.",
  },
  update_expenses: {
    title: "Update expenses",
    description:
      "Change fields of 1-100 expenses by id, or of up to 500 by the filter of list_expenses (dry_run first, then confirm). Of several only category, payee, note, url, tags, reimbursement, paid_by and shared may change.",
  },
  add_bill: {
    title: "Add bill",
    description:
      "Create a recurring or one-time bill. amount_mode variable = amount differs each month (entered or fetched from a provider).",
  },
  update_bill: {
    title: "Update bill",
    description:
      "Change a bill (price changes apply from apply_from, default the next open due date; paid history never changes), pause/resume/cancel it, or skip, snooze or re-price one occurrence. provider connects a variable bill and returns a connect_url to open.",
  },
  mark_bill_paid: {
    title: "Mark bill paid",
    description:
      "Record a payment for the date of a bill that is due or overdue, or for due_on. Omit amount to settle what remains. due_on of a paid date with amount or paid_on corrects it. Give bill_id, or bill_name when unambiguous.",
  },
  sync_bill_amounts: {
    title: "Fetch bill amounts",
    description:
      "Fetch this month's amount of connected variable bills from their providers now. At most once per bill per hour.",
  },
  delete_records: {
    title: "Delete expenses or bills",
    description:
      "Soft-delete expenses, by ids or by the filter of list_expenses, or one bill; restorable with undo_change for 30 days. To stop a bill but keep its history use update_bill status cancelled.",
  },
  settle_up: {
    title: "Settle up",
    description:
      "Record money that one member gave another for shared costs: what is owed, or amount. No spending. get_context with include balances says who owes whom.",
  },
  undo_change: {
    title: "Undo a change",
    description:
      "Reverse one earlier write as a whole. Default: this connection's latest, of the last 30 minutes; else give change_id. Fails with undo_conflict when a touched row changed since. Undoing an undo redoes it.",
  },
  update_settings: {
    title: "Update settings",
    description:
      "Owner and organization preferences: timezone, base currency, reminder email on or off, default lead days, categories, payee rules, budgets, closed months.",
  },
  decide_proposal: {
    title: "Decide a proposal",
    description:
      "Approve or refuse a write that waits for the user's approval (get_context lists them with hash), or withdraw their own. Show what it changes and ask the user first.",
  },
};
