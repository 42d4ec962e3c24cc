/** The chart's page as an MCP resource (SEP-1865), which hosts show for `show_spending_chart`. */
import type { ReadResourceResult, Resource } from "@modelcontextprotocol/server";
import { sha256 } from "../../../shared/std/sha256.ts";
import type { Words } from "../../../shared/words/words.ts";
import { CHART_URI } from "./uri.ts";

/** The MIME type of MCP Apps pages. */
const MIME_TYPE = "text/html;profile=mcp-app";

/** The request that reads the page. */
export interface ChartReader {
  siteUrl: string;
  /** The connector's address, as the person entered it in the host. */
  resource: string;
  userAgent: string | undefined;
}

export const chartResource = ({ connector }: Words, reader: ChartReader): Resource => ({
  uri: CHART_URI,
  name: "spending-chart",
  ...connector.chart,
  mimeType: MIME_TYPE,
  _meta: meta(reader),
});

/** The page loads for the first host that shows it. */
export async function readChart(reader: ChartReader): Promise<ReadResourceResult> {
  const { CHART_PAGE } = await import("./page.ts");
  return { contents: [{ uri: CHART_URI, mimeType: MIME_TYPE, text: CHART_PAGE, _meta: meta(reader) }] };
}

/** No external origins: the page is self-contained and sends nothing. */
const meta = (reader: ChartReader) => ({
  ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true, ...domainFor(reader) },
  "openai/widgetDomain": reader.siteUrl,
});

export const isChatGpt = ({ userAgent = "" }: ChartReader): boolean => userAgent.startsWith("openai-mcp");

/**
 * The origin of the page's sandbox. Each host defines its own format and rejects others, so an unknown host gets no
 * origin and chooses one itself.
 */
function domainFor(reader: ChartReader): { domain?: string } {
  const { siteUrl, resource, userAgent } = reader;
  if (isChatGpt(reader)) return { domain: siteUrl };
  if (userAgent !== "Claude-User") return {};
  return { domain: `${sha256(resource).toString("hex").slice(0, 32)}.claudemcpcontent.com` };
}
