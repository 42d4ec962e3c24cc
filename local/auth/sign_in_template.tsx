/** @jsxImportSource hono/jsx */
/**
 * The sign-in mails as templates for the identity provider, which fills in `{{ .Name }}` (Go's html/template). Their
 * texts come from the catalog; `deno task build` writes them to `supabase/templates/`.
 */
import { BUTTON, MailFrame } from "../../shared/mail/html_part.tsx";
import type { Words } from "../../shared/words/words.ts";

export const MAIL_KINDS = ["magic_link", "confirmation", "email_change"] as const;
export type MailKind = typeof MAIL_KINDS[number];

/** The link sends the token's hash to our own page: `RedirectTo`, or the default page if that URL is not allowed. */
const TOKENS: Record<MailKind, string> = {
  magic_link: "token_hash={{ .TokenHash }}&type=email",
  confirmation: "token_hash={{ .TokenHash }}&type=email",
  email_change: "token_hash={{ .TokenHash }}&type=email_change",
};
/** Our page, if the link's own URL is not allowed. */
const PAGES: Record<MailKind, string> = {
  magic_link: "/auth/callback",
  confirmation: "/auth/callback",
  email_change: "/account/email/confirm",
};
const LINKS = { isFallback: "{{ if eq .RedirectTo .SiteURL }}", otherwise: "{{ else }}", end: "{{ end }}" };

/** The text part, which only the embedded identity provider sends. */
export function signInText(kind: MailKind, { mails }: Words): string {
  const { heading, lead, button, beforeCode, ending } = mails.signIn[kind];
  const { isFallback, otherwise, end } = LINKS;
  return [
    heading,
    lead({ email: "{{ .Email }}", newEmail: "{{ .NewEmail }}" }),
    `${button}:\n${isFallback}{{ .SiteURL }}${PAGES[kind]}?${TOKENS[kind]}${otherwise}{{ .RedirectTo }}&${
      TOKENS[kind]
    }${end}`,
    ...(beforeCode ? [`${beforeCode} {{ .Token }}`] : []),
    ending,
  ].join("\n\n") + "\n";
}

export async function signInTemplate(kind: MailKind, { language, mails }: Words): Promise<string> {
  const { heading, lead, button, beforeCode, ending } = mails.signIn[kind];
  const token = TOKENS[kind];
  const html = await (
    <MailFrame language={language} title={heading}>
      <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">{heading}</h1>
      <p style="margin:0 0 24px">{lead({ email: "{{ .Email }}", newEmail: "{{ .NewEmail }}" })}</p>
      <p style="margin:0 0 24px">
        {LINKS.isFallback}
        <a href={`{{ .SiteURL }}${PAGES[kind]}?${token}`} style={BUTTON}>{button}</a>
        {LINKS.otherwise}
        <a href={`{{ .RedirectTo }}&${token}`} style={BUTTON}>{button}</a>
        {LINKS.end}
      </p>
      {beforeCode && (
        <>
          <p style="margin:0 0 8px">{beforeCode}</p>
          <p style="margin:0 0 24px;font-size:28px;font-weight:600;letter-spacing:6px">{"{{ .Token }}"}</p>
        </>
      )}
      <p style="margin:0;font-size:14px;opacity:.8">{ending}</p>
    </MailFrame>
  ).toString();
  // One line per part, for readable diffs.
  return `<!doctype html>\n${html.replaceAll(/<\/(head|h1|p)>/g, "$&\n")}\n`;
}
