/**
 * The contract of `show_spending_chart`; `app.show_spending_chart` does the work, and the page in chart/ draws the
 * chart.
 */
import { categories, date, inCurrency, object, oneOf } from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { CHART_URI } from "../../chart/uri.ts";
import { answer } from "./answer.ts";

export const showSpendingChart = defineTool({
  name: "show_spending_chart",
  annotations: READ,
  inputSchema: object({
    chart: oneOf(["by_category", "over_time", "category_over_time", "upcoming_bills"], { default: "by_category" }),
    // Without a period, spending covers this month, and bills the next 30 days.
    period: oneOf(["this_month", "last_month", "this_quarter", "this_year", "last_30_days", "last_12_months"]),
    from: date(),
    to: date(),
    in_currency: inCurrency,
    categories,
  }),
  data: { chart: "string", period: "object", currency: "string", series: "array", total: "object", table: "string" },
  answer,
  // Hosts built for early MCP Apps drafts read the flat key.
  meta: { "ui": { resourceUri: CHART_URI }, "ui/resourceUri": CHART_URI },
});
