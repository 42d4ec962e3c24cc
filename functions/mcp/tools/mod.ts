/** All tools of the connector, in the order clients see them: reading first, undo last. */
import type { Tool } from "../../../shared/connector/tool.ts";
import { addBill } from "./add_bill.ts";
import { decideProposal } from "./decide_proposal.ts";
import { deleteRecords } from "./delete_records.ts";
import { getContext } from "./get_context.ts";
import { importExpenses } from "./import_expenses.ts";
import { listBills } from "./list_bills.ts";
import { listExpenses } from "./list_expenses.ts";
import { logExpenses } from "./log_expenses.ts";
import { markBillPaid } from "./mark_bill_paid.ts";
import { reconcile } from "./reconcile.ts";
import { reviewBills } from "./review_bills.ts";
import { settleUp } from "./settle_up.ts";
import { showSpendingChart } from "./show_spending_chart.ts";
import { summarizeSpending } from "./summarize_spending.ts";
import { syncBillAmounts } from "./sync_bill_amounts.ts";
import { undoChange } from "./undo_change.ts";
import { updateBill } from "./update_bill.ts";
import { updateExpenses } from "./update_expenses.ts";
import { updateSettings } from "./update_settings.ts";

export const TOOLS: readonly Tool[] = [
  getContext,
  listExpenses,
  summarizeSpending,
  showSpendingChart,
  listBills,
  reviewBills,
  reconcile,
  logExpenses,
  importExpenses,
  updateExpenses,
  addBill,
  updateBill,
  markBillPaid,
  settleUp,
  syncBillAmounts,
  deleteRecords,
  undoChange,
  updateSettings,
  decideProposal,
];
