/**
 * Assembles a digest mail: subject, both parts, headers. The same digest always produces the same bytes, so a mail
 * service recognizes a resend.
 */
import { formatOf } from "../words/format.ts";
import type { Words } from "../words/words.ts";
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

/**
 * @param options.locale for dates and numbers, see `localeOf`.
 * @param options.host the right-hand side of the Message-ID.
 */
export async function composeDigest(
  { id, content }: { id: string; content: DigestContent },
  { words, locale, links, host }: { words: Words; locale: string; links: DigestLinks; host: string },
): Promise<DigestMail> {
  const wording = { words: words.mails.digest, format: formatOf(locale) };
  return {
    to: content.address,
    subject: subjectOf(content, wording),
    text: digestText(content, { links, wording }),
    html: await digestHtml(content, { links, wording, language: words.language }),
    // Stable, so mail programs can merge a mail that arrives twice.
    messageId: `<digest.${id}@${host}>`,
    headers: {
      // RFC 8058 section 3.1: a POST with this body to this URL unsubscribes, without a person or a session.
      "List-Unsubscribe": `<${links.unsubscribe}>`,
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      // RFC 3834 section 5: suppresses out-of-office replies.
      "Auto-Submitted": "auto-generated",
    },
  };
}
