/** The contract of `mark_bill_paid`; `app.mark_bill_paid` does the work. */
import { amount, currency, date, id, idempotencyKey, note, object, text } from "../../../shared/connector/schema.ts";
import { CREATE, defineTool } from "../../../shared/connector/tool.ts";

export const markBillPaid = defineTool({
  name: "mark_bill_paid",
  title: "Mark bill paid",
  annotations: CREATE,
  description:
    "Record a payment for a bill's earliest open occurrence (or due_on). Omit amount to settle what remains. Give bill_id, or bill_name when unambiguous.",
  inputSchema: object({
    bill_id: id("bill"),
    bill_name: text(120),
    due_on: date(),
    amount: amount(),
    currency: currency(),
    paid_on: date("Day the money left; default today.", { default: "today" }),
    note,
    idempotency_key: idempotencyKey,
  }),
  data: { payment: "object", occurrence: "object", next_due: "string", bill_id: "string", name: "string" },
});
