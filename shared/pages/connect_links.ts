/** Links that add the connector to a client with one click. */
import { Buffer } from "node:buffer";

/** The name of this connector in clients. */
const NAME = "expenses";

/**
 * Opens Claude's form with name and URL filled in; undefined for a site that Claude cannot reach. Source:
 * github.com/erp-mafia/accounted, claude-plugin/CONNECTORS.md; other parameter names fail silently.
 */
export const claudeLink = (url: string): string | undefined =>
  url.startsWith("https://")
    ? "https://claude.ai/customize/connectors?" +
      new URLSearchParams({ modal: "add-custom-connector", connectorName: NAME, connectorUrl: url })
    : undefined;

/** https://cursor.com/docs/mcp/install-links */
export function cursorLink(url: string): string {
  const config = Buffer.from(JSON.stringify({ url })).toString("base64");
  return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: NAME, config })}`;
}

/** https://code.visualstudio.com/api/extension-guides/ai/mcp */
export const vsCodeLink = (url: string): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: "http", url }))}`;
