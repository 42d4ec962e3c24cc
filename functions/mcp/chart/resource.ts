/** The chart's page as an MCP resource (SEP-1865), which hosts show for `show_spending_chart`. */
import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import type { Words } from "../../../shared/words/words.ts";
import { CHART_URI } from "./uri.ts";

/** The MIME type of MCP Apps pages. */
const MIME_TYPE = "text/html;profile=mcp-app";

/** No external origins: the page is self-contained and sends nothing. */
const META = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } };

export const chartResource = ({ connector }: Words): Resource => ({
  uri: CHART_URI,
  name: "spending-chart",
  ...connector.chart,
  mimeType: MIME_TYPE,
  _meta: META,
});

/** The page is loaded for the first host that shows it. */
export async function readChart(): Promise<ReadResourceResult> {
  const { CHART_PAGE } = await import("./page.ts");
  return { contents: [{ uri: CHART_URI, mimeType: MIME_TYPE, text: CHART_PAGE, _meta: META }] };
}
