/** `list_bills`: every bill in words. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Bill, presentBill } from "../../present/bill.ts";

export const answer = presenter(z.object({ bills: z.array(Bill) }), ({ bills, ...data }, words) => ({
  ...data,
  bills: bills.map((bill) => presentBill(bill, words)),
}));
