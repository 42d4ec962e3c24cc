/** The contract of `summarize_spending`; `app.summarize_spending` does the work. */
import {
  barePaymentFilter,
  flag,
  inCurrency,
  integer,
  list,
  LISTED_AS,
  object,
  oneOf,
  text,
} from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const summarizeSpending = defineTool({
  name: "summarize_spending",
  annotations: READ,
  inputSchema: object({
    ...barePaymentFilter,
    kind: oneOf(["one_off", "bill_payment", "refund", "income", "net"], { [LISTED_AS]: { type: "string" } }),
    borne_by: text(254, { description: "Only this member's shares." }),
    period: oneOf([
      "this_week",
      "last_week",
      "this_month",
      "last_month",
      "this_quarter",
      "last_quarter",
      "this_year",
      "last_year",
      "last_30_days",
      "last_12_months",
    ], { description: "Instead of from, to. Default: this month." }),
    group_by: list(
      oneOf(["category", "payee", "tag", "month", "week", "day", "currency", "member", "borne_by", "recorded_by"]),
      { minItems: 1, maxItems: 2, default: ["category"] },
    ),
    in_currency: inCurrency,
    compare: oneOf(["none", "previous_period", "same_period_last_year"], { default: "none" }),
    include_upcoming: flag(false, { description: "Bills not yet paid." }),
    top: integer({ minimum: 1, maximum: 100, default: 20 }),
  }),
  data: {
    period: "object",
    rows: "array",
    total: "object",
    budgets: "array",
    fx: "object",
    unconverted: "array",
    tax_by_currency: "object",
    no_match: "object",
  },
  answer,
});
