/** The contract of `list_expenses`; `app.list_expenses` does the work. */
import { cursor, limit, object, oneOf, paymentFilter } from "../../../shared/connector/schema.ts";
import { type Arguments, defineTool, type ParsedArguments, READ } from "../../../shared/connector/tool.ts";

export const listExpenses = defineTool({
  name: "list_expenses",
  title: "List expenses",
  annotations: READ,
  description:
    "Money that left: one-off expenses, bill payments, refunds; newest first. Totals cover every match, not only this page. format=csv returns up to 500 rows as text.",
  inputSchema: object({
    ...paymentFilter(
      "Only amounts in this currency (ISO 4217). For conversion use summarize_spending with in_currency.",
    ),
    sort: oneOf(["date", "amount"], { default: "date" }),
    order: oneOf(["desc", "asc"], { default: "desc" }),
    limit,
    cursor,
    format: oneOf(["json", "csv"], { default: "json" }),
  }),
  data: { rows: "array", csv: "string" },
  isList: true,
  refine,
});

/** The default limit is for a page of rows; a file gets the maximum. */
function refine({ limit, ...value }: Arguments, sent: Arguments): ParsedArguments {
  return { ok: true, value: value.format === "csv" && sent.limit === undefined ? value : { ...value, limit } };
}
