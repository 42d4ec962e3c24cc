/**
 * Puts a digest together as a mail: subject, both parts, headers. The same digest makes the same bytes each time, which is how a mail
 * service recognizes one that is sent again.
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
 * @param options.locale how the owner is used to dates and numbers, see `localeOf`.
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
