/** The contract of `update_expenses`; `app.update_expenses` does the work. */
import {
  amount,
  category,
  changeFilter,
  charged,
  confirm,
  currency,
  date,
  dryRun,
  id,
  ids,
  integer,
  listedIn,
  name,
  note,
  object,
  paidBy,
  payee,
  reimbursedBy,
  reimbursement,
  shared,
  split,
  tags,
  tax,
  taxPercent,
  url,
} from "../../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

const inputSchema = object({
  ids: ids("exp", "inc"),
  filter: changeFilter,
  confirm,
  // Fields of a change have no defaults, because a default would reset unmentioned fields.
  set: listedIn(
    "log_expenses",
    object(
      {
        name: name(),
        amount: amount(),
        currency: currency(),
        date: date(),
        payee,
        category: category(),
        tags,
        note,
        url,
        is_refund: { type: "boolean" },
        tax,
        tax_percent: taxPercent,
        reimbursement,
        reimbursed_by: reimbursedBy,
        reimbursed_on: date(),
        split,
        paid_by: paidBy,
        shared,
        charged: charged(" {} removes it."),
      },
      [],
      { minProperties: 1 },
    ),
  ),
  merge_into: { ...id("(exp|pay)"), description: "ids go, this one stays." },
  add_tags: tags,
  remove_tags: tags,
  expected_version: integer({
    minimum: 1,
    description: "Single id: fails if the row changed since.",
  }),
  dry_run: dryRun,
});

export const updateExpenses = defineTool({
  name: "update_expenses",
  annotations: UPDATE,
  inputSchema,
  data: { updated: "array", split: "array", count: "integer", confirm: "object", merged: "array" },
  answer,
});
