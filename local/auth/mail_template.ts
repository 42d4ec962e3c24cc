/**
 * The subset of Go's html/template that our mail templates use: `{{ .Name }}` and `{{ if eq .A .B }}…{{ else }}…{{
 * end }}`.
 */
import type { MailTemplate } from "./settings.ts";

export interface MailValues {
  SiteURL: string;
  RedirectTo: string;
  TokenHash: string;
  /** The six-digit code. */
  Token: string;
  Email: string;
  /** For address changes. */
  NewEmail?: string;
}

/** @throws {Error} for an unknown action or name. */
export function renderMail(template: MailTemplate, values: MailValues): MailTemplate {
  const value = (name: string): string => {
    const known = values[name as keyof MailValues];
    if (known === undefined) throw new Error(`The mail template uses .${name}, which is not supported`);
    return known;
  };
  const render = (text: string, escape = (part: string) => part) =>
    text
      .replace(
        /{{ if eq \.(\w+) \.(\w+) }}(.*?){{ else }}(.*?){{ end }}/gs,
        (_, left, right, same, other) => value(left) === value(right) ? same : other,
      )
      .replace(/{{ \.(\w+) }}/g, (_, name) => escape(value(name)))
      .replace(/{{.*?}}/s, (action) => {
        throw new Error(`The mail template uses ${action}, which is not supported`);
      });
  return {
    subject: render(template.subject),
    html: render(template.html, escapeHtml),
    text: render(template.text),
  };
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
