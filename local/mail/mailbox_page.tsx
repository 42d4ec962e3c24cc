/** @jsxImportSource hono/jsx */
/** The mailbox page: the newest mails, each rendered in a script-free frame as high as its content. */
import { ICON_URL } from "../../shared/pages/icon.ts";
import { STYLES } from "../../shared/pages/styles.ts";
import type { ReceivedMail } from "./smtp_sink.ts";

const SHOWN = 30;

const OWN_STYLES = `
.mail + .mail { margin-top: 2.5rem; padding-top: 2.5rem; border-top: 1px solid var(--line); }
.mail iframe { display: block; width: 100%; height: 26rem; border: 1px solid var(--line); border-radius: .375rem; background: Canvas; }
.mail pre { white-space: pre-wrap; }`;

// The script-free frame is same-origin only so that the page can measure it. Without scripts on the page, the frame
// scrolls.
const FIT_FRAMES_SCRIPT = `
const fit = (frame) => { frame.style.height = frame.contentDocument.documentElement.scrollHeight + 2 + "px"; };
for (const frame of document.querySelectorAll("iframe")) {
  frame.addEventListener("load", () => fit(frame));
  fit(frame);
  addEventListener("resize", () => { frame.style.height = ""; fit(frame); });
}`;

export interface MailboxView {
  /** The address by which the list is filtered. */
  to?: string | undefined;
  siteUrl: string;
  /** Path of this page. */
  path: string;
}

export async function renderMailbox(
  mails: readonly ReceivedMail[],
  { to, siteUrl, path }: MailboxView,
): Promise<Response> {
  const nonce = crypto.randomUUID();
  const html = await (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Mailbox · Expenses</title>
        <link rel="icon" href={ICON_URL} />
        <style dangerouslySetInnerHTML={{ __html: STYLES + OWN_STYLES }} />
      </head>
      <body>
        <header class="bar">
          <div class="column">
            <a class="brand" href={siteUrl}>Expenses</a>
            <a href={path}>All mail</a>
          </div>
        </header>
        <main class="page">
          <div class="column">
            <h1>{to ? `Mail to ${to}` : "Mailbox"}</h1>
            <p class="muted">Mail that this stack sent. None of it left this machine.</p>
            {mails.length === 0 && <p>No mail yet.</p>}
            {mails.slice(0, SHOWN).map((mail) => <Mail mail={mail} path={path} />)}
          </div>
        </main>
        <script nonce={nonce} dangerouslySetInnerHTML={{ __html: FIT_FRAMES_SCRIPT }} />
      </body>
    </html>
  ).toString();
  return new Response(`<!doctype html>${html}`, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      // Links in a mail open in a new tab; its frame can neither run scripts nor submit forms.
      "content-security-policy":
        `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; img-src data:; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'`,
      "cache-control": "no-store",
    },
  });
}

function Mail({ mail, path }: { mail: ReceivedMail; path: string }) {
  return (
    <article class="mail">
      <h2>{mail.subject || "(no subject)"}</h2>
      <p class="muted">
        to <a href={`${path}?to=${encodeURIComponent(mail.to)}`}>{mail.to}</a> ·{" "}
        {mail.received_at.slice(0, 19).replace("T", " ")} UTC
      </p>
      {mail.html
        ? (
          <iframe
            title={mail.subject}
            sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
            srcdoc={`<base target="_blank">${mail.html}`}
          />
        )
        : <pre>{mail.text}</pre>}
    </article>
  );
}
