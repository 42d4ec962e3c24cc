/** `sync_bill_amounts`: a sentence about the outcome for each bill. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { presentSyncedBill, SyncedBill } from "../../../../shared/words/synced_bill.ts";

export const answer = presenter(z.object({ bills: z.array(SyncedBill) }), ({ bills, ...data }, words) => ({
  ...data,
  bills: bills.map((bill) => presentSyncedBill(bill, words)),
}));
