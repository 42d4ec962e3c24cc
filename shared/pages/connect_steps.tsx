/** @jsxImportSource hono/jsx */
/** How to connect an AI client: the address, the links that add it, and the steps in clients without such a link. */
import { Buffer } from "node:buffer";
import type { Words } from "../words/words.ts";
import { CopyText } from "./copy_button.tsx";

/** What clients call this connector. */
const NAME = "expenses";

interface ConnectView {
  connectorUrl: string;
  words: Words["pages"]["connecting"];
}

export const ConnectSteps = ({ connectorUrl, words }: ConnectView) => (
  <>
    <CopyText text={connectorUrl} words={words} />
    <div class="buttons">
      <a class="button" href={cursorLink(connectorUrl)}>{words.cursor}</a>
      <a class="button" href={vsCodeLink(connectorUrl)}>{words.vsCode}</a>
    </div>
    {words.clients.map(({ name, steps }) => (
      <details class="steps">
        <summary>{name}</summary>
        <ol>{steps.map((step) => <li>{step}</li>)}</ol>
      </details>
    ))}
  </>
);

/** https://cursor.com/docs/mcp/install-links */
export function cursorLink(url: string): string {
  const config = Buffer.from(JSON.stringify({ url })).toString("base64");
  return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: NAME, config })}`;
}

/** https://code.visualstudio.com/api/extension-guides/ai/mcp */
export const vsCodeLink = (url: string): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: "http", url }))}`;
