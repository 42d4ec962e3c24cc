/** The contract of `log_expenses`; `app.log_expenses` does the work. */
import {
  amount,
  currency,
  date,
  dryRun,
  flag,
  idempotencyKey,
  inferredCategory,
  list,
  name,
  note,
  object,
  onDuplicate,
  payee,
  tags,
  text,
  url,
} from "../../../shared/connector/schema.ts";
import { CREATE, defineTool } from "../../../shared/connector/tool.ts";

export const logExpenses = defineTool({
  name: "log_expenses",
  title: "Log expenses",
  annotations: CREATE,
  description:
    'Record 1-100 one-off expenses or refunds. All or nothing. A likely duplicate (same date, amount, currency, payee) is not written unless on_duplicate is "allow".',
  inputSchema: object({
    items: list(
      object({
        name: name({ description: 'Short label, e.g. "Lunch".' }),
        amount: amount(),
        currency: currency(),
        date: date(undefined, { default: "today" }),
        payee,
        category: inferredCategory,
        tags,
        note,
        url,
        is_refund: flag(false),
        external_id: text(128),
      }, ["name", "amount"]),
      { minItems: 1, maxItems: 100 },
    ),
    on_duplicate: onDuplicate,
    create_missing_categories: flag(false),
    dry_run: dryRun,
    idempotency_key: idempotencyKey,
  }, ["items"]),
  // A hundred items with every field full, at three bytes per character.
  maxBytes: 1_000_000,
  data: { results: "array", totals_by_currency: "object" },
});
