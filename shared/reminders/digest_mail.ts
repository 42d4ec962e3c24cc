/** Puts a digest together as a mail: subject, both parts, headers. The same digest always makes the same bytes: a mail service knows a repeated one by them. */
import type { DigestContent, DigestLinks } from "./content.ts";
import { digestHtml } from "./digest_html.tsx";
import { digestText } from "./digest_text.ts";
import { subjectOf } from "./subject.ts";

export interface DigestMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  messageId: string;
  headers: Readonly<Record<string, string>>;
}

/** @param options.host the right-hand side of the Message-ID. */
export async function composeDigest(
  { id, content }: { id: string; content: DigestContent },
  { links, host }: { links: DigestLinks; host: string },
): Promise<DigestMail> {
  return {
    to: content.address,
    subject: subjectOf(content),
    text: digestText(content, links),
    html: await digestHtml(content, links),
    // Stable, so that a mail program can fold a mail that came twice into one.
    messageId: `<digest.${id}@${host}>`,
    headers: {
      // RFC 8058 section 3.1: a POST to this address with this body unsubscribes, without a person and without a session.
      "List-Unsubscribe": `<${links.unsubscribe}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      // RFC 3834 section 5: no out-of-office reply to a machine.
      "Auto-Submitted": "auto-generated",
    },
  };
}
