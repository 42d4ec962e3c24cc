/** `add_bill`: the new bill in words. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Bill, presentBill } from "../../present/bill.ts";

export const answer = presenter(z.object({ bill: Bill }), ({ bill, ...data }, words) => ({
  ...data,
  bill: presentBill(bill, words),
}));
