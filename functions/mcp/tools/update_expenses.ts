/** The contract of `update_expenses`; `app.update_expenses` does the work. */
import {
  amount,
  bare,
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
  type JsonSchema,
  listedChangeFilter,
  listedShared,
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
} from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";

const schemaWith = (filter: JsonSchema, sharing: JsonSchema) =>
  object({
    ids: ids("exp"),
    filter,
    confirm,
    // No field of a change has a default: it would reset fields the caller did not mention.
    set: object(
      {
        ...bare({
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
          shared: sharing,
        }),
        charged: charged(" {} removes it."),
      },
      [],
      { minProperties: 1 },
    ),
    merge_into: { ...id("(exp|pay)"), description: "The same spending, recorded twice: ids go, this one stays." },
    add_tags: tags,
    remove_tags: tags,
    expected_version: integer({
      minimum: 1,
      description: "Single id only: fails if the row changed since it was read.",
    }),
    dry_run: dryRun,
  });

export const updateExpenses = defineTool({
  name: "update_expenses",
  annotations: UPDATE,
  inputSchema: schemaWith(changeFilter, shared),
  listedSchema: schemaWith(listedChangeFilter, listedShared),
  data: { updated: "array", split: "array", count: "integer", confirm: "object", merged: "array" },
});
