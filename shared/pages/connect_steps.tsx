/** @jsxImportSource hono/jsx */
/** How to connect an AI client: the URL, the links that add it, and the steps in clients without such a link. */
import type { PageWords } from "../words/page_words.ts";
import { claudeLink, cursorLink, vsCodeLink } from "./connect_links.ts";
import { CopyText } from "./copy_button.tsx";

interface ConnectView {
  connectorUrl: string;
  words: PageWords["connecting"];
}

export const ConnectSteps = ({ connectorUrl, words }: ConnectView) => (
  <>
    <CopyText text={connectorUrl} words={words} />
    <div class="buttons">
      {claudeLink(connectorUrl) && <a class="button" href={claudeLink(connectorUrl)}>{words.claude}</a>}
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
