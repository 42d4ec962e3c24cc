/**
 * Puts a tool's data into words: labels for missing names, sentences and files. Other tools return their facts
 * unchanged.
 */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { presentAddedBill, presentBills, presentUpdatedBill } from "./bill.ts";
import { presentContext } from "./get_context.ts";
import { presentImport } from "./import_expenses.ts";
import { presentExpenses } from "./list_expenses.ts";
import { presentLoggedExpenses } from "./log_expenses.ts";
import { presentReview } from "./review_bills.ts";
import { presentSettlement } from "./settle_up.ts";
import { presentChart } from "./show_spending_chart.ts";
import { presentSpending } from "./summarize_spending.ts";
import { presentSyncedBills } from "../../../shared/words/synced_bill.ts";
import { presentUndo } from "./undo_change.ts";
import { presentUpdatedExpenses } from "./update_expenses.ts";

const PRESENTERS: Readonly<Record<string, (data: Facts, words: Words) => Facts>> = {
  add_bill: presentAddedBill,
  get_context: presentContext,
  import_expenses: presentImport,
  list_bills: presentBills,
  list_expenses: presentExpenses,
  log_expenses: presentLoggedExpenses,
  review_bills: presentReview,
  summarize_spending: presentSpending,
  settle_up: presentSettlement,
  show_spending_chart: presentChart,
  store_bill_amounts: presentSyncedBills,
  sync_bill_amounts: presentSyncedBills,
  undo_change: presentUndo,
  update_bill: presentUpdatedBill,
  update_expenses: presentUpdatedExpenses,
};

export const presentData = (tool: string, data: Facts, words: Words): Facts => PRESENTERS[tool]?.(data, words) ?? data;
