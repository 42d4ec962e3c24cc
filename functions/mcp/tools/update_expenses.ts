/** The contract of `update_expenses`; `app.update_expenses` does the work. */
import {
  amount,
  category,
  currency,
  date,
  dryRun,
  ids,
  integer,
  name,
  note,
  object,
  payee,
  tags,
  url,
} from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";

export const updateExpenses = defineTool({
  name: "update_expenses",
  title: "Update expenses",
  annotations: UPDATE,
  description:
    "Change fields of 1-100 expenses. With more than one id only category, payee, note, url and tags may change.",
  inputSchema: object({
    ids: ids("exp"),
    // No field of a change has a default: it would reset fields the caller did not mention.
    set: object(
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
      },
      [],
      { minProperties: 1 },
    ),
    add_tags: tags,
    expected_version: integer({
      minimum: 1,
      description: "Single id only: fails if the row changed since it was read.",
    }),
    dry_run: dryRun,
  }, ["ids"]),
  data: { updated: "array" },
});
