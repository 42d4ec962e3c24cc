/** All tools of the connector, in the order of `tools/list`: reading first, undo last. */
import type { Tool } from "../../../shared/connector/tool.ts";
import { addBill } from "./add_bill/contract.ts";
import { attachDocument } from "./attach_document/contract.ts";
import { decideProposal } from "./decide_proposal/contract.ts";
import { deleteRecords } from "./delete_records/contract.ts";
import { draftCancellation } from "./draft_cancellation/contract.ts";
import { forecast } from "./forecast/contract.ts";
import { getContext } from "./get_context/contract.ts";
import { importExpenses } from "./import_expenses/contract.ts";
import { listDocuments } from "./list_documents/contract.ts";
import { listBills } from "./list_bills/contract.ts";
import { listExpenses } from "./list_expenses/contract.ts";
import { logExpenses } from "./log_expenses/contract.ts";
import { markBillPaid } from "./mark_bill_paid/contract.ts";
import { reconcile } from "./reconcile/contract.ts";
import { reviewBills } from "./review_bills/contract.ts";
import { settleUp } from "./settle_up/contract.ts";
import { showSpendingChart } from "./show_spending_chart/contract.ts";
import { summarizeSpending } from "./summarize_spending/contract.ts";
import { syncBillAmounts } from "./sync_bill_amounts/contract.ts";
import { undoChange } from "./undo_change/contract.ts";
import { updateBill } from "./update_bill/contract.ts";
import { updateExpenses } from "./update_expenses/contract.ts";
import { updateSettings } from "./update_settings/contract.ts";

export const TOOLS: readonly Tool[] = [
  getContext,
  listExpenses,
  summarizeSpending,
  showSpendingChart,
  listBills,
  reviewBills,
  forecast,
  listDocuments,
  reconcile,
  logExpenses,
  importExpenses,
  updateExpenses,
  addBill,
  updateBill,
  draftCancellation,
  markBillPaid,
  attachDocument,
  settleUp,
  syncBillAmounts,
  deleteRecords,
  undoChange,
  updateSettings,
  decideProposal,
];
