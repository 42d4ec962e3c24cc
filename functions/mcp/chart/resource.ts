/** The chart's page as an MCP resource (SEP-1865): what hosts frame when `show_spending_chart` answers. */
import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { CHART_PAGE } from "./page.ts";
import { CHART_URI } from "./uri.ts";

/** The type that says "a page of MCP Apps". */
const MIME_TYPE = "text/html;profile=mcp-app";

/** No origin for anything: the page has all it needs and sends nothing. */
const META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

export const CHART: Resource = {
  uri: CHART_URI,
  name: "spending-chart",
  title: "Spending chart",
  description: "Draws what show_spending_chart answers.",
  mimeType: MIME_TYPE,
  _meta: META,
};

export const readChart = (): ReadResourceResult => ({
  contents: [{ uri: CHART_URI, mimeType: MIME_TYPE, text: CHART_PAGE, _meta: META }],
});
