/**
 * Puts a tool's data into words: labels for missing names, sentences and files. Other tools return their facts
 * unchanged.
 */
import type * as z from "zod/mini";
import type { Told } from "../../../shared/words/facts.ts";
import type { Words } from "../../../shared/words/words.ts";
import { AddedBill, Bills, presentAddedBill, presentBills, presentUpdatedBill, UpdatedBill } from "./bill.ts";
import { Context, presentContext } from "./get_context.ts";
import { Import, presentImport } from "./import_expenses.ts";
import { Expenses, presentExpenses } from "./list_expenses.ts";
import { LoggedExpenses, presentLoggedExpenses } from "./log_expenses.ts";
import { presentReview, Review } from "./review_bills.ts";
import { presentSettlement, Settlement } from "./settle_up.ts";
import { Chart, presentChart } from "./show_spending_chart.ts";
import { presentSpending, Spending } from "./summarize_spending.ts";
import { presentSyncedBills, SyncedBills } from "../../../shared/words/synced_bill.ts";
import { presentUndo, Undo } from "./undo_change.ts";
import { presentUpdatedExpenses, UpdatedExpenses } from "./update_expenses.ts";

interface Presenter {
  /** What it needs of the tool's data; tests hold answers of the database to it. */
  schema: z.ZodMiniType;
  present(data: Told, words: Words): Told;
}

const presenter = <Schema extends z.ZodMiniType>(
  schema: Schema,
  present: (data: z.infer<Schema>, words: Words) => object,
): Presenter => ({ schema, present: present as Presenter["present"] });

const SYNC = presenter(SyncedBills, presentSyncedBills);

export const PRESENTERS: Readonly<Record<string, Presenter>> = {
  add_bill: presenter(AddedBill, presentAddedBill),
  get_context: presenter(Context, presentContext),
  import_expenses: presenter(Import, presentImport),
  list_bills: presenter(Bills, presentBills),
  list_expenses: presenter(Expenses, presentExpenses),
  log_expenses: presenter(LoggedExpenses, presentLoggedExpenses),
  review_bills: presenter(Review, presentReview),
  summarize_spending: presenter(Spending, presentSpending),
  settle_up: presenter(Settlement, presentSettlement),
  show_spending_chart: presenter(Chart, presentChart),
  store_bill_amounts: SYNC,
  sync_bill_amounts: SYNC,
  undo_change: presenter(Undo, presentUndo),
  update_bill: presenter(UpdatedBill, presentUpdatedBill),
  update_expenses: presenter(UpdatedExpenses, presentUpdatedExpenses),
};

export const presentData = (tool: string, data: Told, words: Words): Told =>
  PRESENTERS[tool]?.present(data, words) ?? data;
