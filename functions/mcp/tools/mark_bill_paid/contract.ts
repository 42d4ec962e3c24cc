/** The contract of `mark_bill_paid`; `app.mark_bill_paid` does the work. */
import {
  amount,
  charged,
  currency,
  date,
  flag,
  id,
  idempotencyKey,
  integer,
  listedIn,
  note,
  object,
  onDuplicate,
  paidBy,
  text,
} from "../../../../shared/connector/schema.ts";
import { CREATE, defineTool } from "../../../../shared/connector/tool.ts";

export const markBillPaid = defineTool({
  name: "mark_bill_paid",
  annotations: CREATE,
  inputSchema: object({
    bill_id: id("bill"),
    bill_name: text(120),
    due_on: date(),
    advance: flag(false, { description: "Pays the next date early." }),
    amount: amount(),
    currency: currency(),
    charged: listedIn("log_expenses", charged()),
    paid_on: date(),
    confirm_days: integer({ description: "When an answer asks for it." }),
    paid_by: paidBy,
    note,
    on_duplicate: onDuplicate,
    idempotency_key: idempotencyKey,
  }),
  data: {
    payment: "object",
    occurrence: "object",
    next_due: "string",
    bill_id: "string",
    name: "string",
    before: "object",
  },
});
