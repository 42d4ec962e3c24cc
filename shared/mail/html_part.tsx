/** @jsxImportSource hono/jsx */
/** The HTML part of a mail that was written as text: its paragraphs and lists, and its links as buttons. */
import type { Child } from "hono/jsx";

const FONT = "16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
export const BUTTON = "display:inline-block;padding:12px 20px;border-radius:6px;background:#0b5f4c;color:#ffffff;" +
  "font-weight:600;text-decoration:none";
/** A longer line before a link remains a sentence, and the link shows its URL. */
const LONGEST_LABEL = 40;

/**
 * @param mail.text paragraphs separated by empty lines; a link has its own line, after one that ends with a colon
 */
export async function htmlPart({ subject, text }: { subject: string; text: string }): Promise<string> {
  const html = await (
    <MailFrame language="en" title={subject}>
      {text.trim().split("\n\n").map((paragraph) => <Paragraph lines={paragraph.split("\n")} />)}
    </MailFrame>
  ).toString();
  return `<!doctype html>\n${html}\n`;
}

/** The document of a short mail. */
export function MailFrame({ language, title, children }: { language: string; title: string; children?: Child }) {
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
      </head>
      <body style={`margin:0;padding:32px 20px;overflow-wrap:anywhere;font:${FONT}`}>
        <div style="max-width:480px;margin:0 auto">{children}</div>
      </body>
    </html>
  );
}

function Paragraph({ lines }: { lines: readonly string[] }) {
  const [first = "", ...rest] = lines;
  const link = rest.find((line) => /^https?:\/\//.test(line));
  if (link && first.length <= LONGEST_LABEL) {
    return (
      <p style="margin:0 0 20px">
        <a href={link} style={BUTTON}>{first.replace(/:$/, "")}</a>
      </p>
    );
  }
  const items = rest.filter((line) => line.startsWith("- "));
  return (
    <>
      <p style={`margin:0 0 ${items.length > 0 ? 4 : 20}px`}>
        {lines.filter((line) => !items.includes(line)).map((line, place) => (
          <>
            {place > 0 && <br />}
            {line === link ? <a href={link}>{link}</a> : line}
          </>
        ))}
      </p>
      {items.length > 0 && (
        <ul style="margin:0 0 20px;padding-inline-start:20px">{items.map((item) => <li>{item.slice(2)}</li>)}</ul>
      )}
    </>
  );
}
