/** Links that add the connector to a client on this computer with one press. */
import { Buffer } from "node:buffer";

/** What clients call this connector. */
const NAME = "expenses";

/** https://cursor.com/docs/mcp/install-links */
export function cursorLink(url: string): string {
  const config = Buffer.from(JSON.stringify({ url })).toString("base64");
  return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: NAME, config })}`;
}

/** https://code.visualstudio.com/api/extension-guides/ai/mcp */
export const vsCodeLink = (url: string): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: "http", url }))}`;
