/** The contract of `list_expenses`; `app.list_expenses` does the work. */
import { cursor, limit, object, oneOf, paymentFilter } from "../../../../shared/connector/schema.ts";
import { type Arguments, defineTool, type ParsedArguments, READ } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const listExpenses = defineTool({
  name: "list_expenses",
  annotations: READ,
  inputSchema: object({
    ...paymentFilter(),
    kind: oneOf(["one_off", "bill_payment", "refund", "income"]),
    has_document: { type: "boolean" },
    sort: oneOf(["date", "amount", "recorded"], { default: "date" }),
    order: oneOf(["desc", "asc"], { default: "desc" }),
    limit,
    cursor,
    format: oneOf(["json", "csv"], { default: "json" }),
  }),
  data: {
    rows: "array",
    repeating: "array",
    csv: "string",
    csv_url: "string",
    tax_by_currency: "object",
    no_match: "object",
  },
  isList: true,
  answer,
  refine,
});

/** The default limit applies to a page of rows; a file contains every match. */
function refine({ limit, ...value }: Arguments, sent: Arguments): ParsedArguments {
  return {
    ok: true,
    value: value.format === "csv" && (sent.limit === undefined || sent.limit === null) ? value : { ...value, limit },
  };
}
