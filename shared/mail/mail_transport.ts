/** Selects the transport for `MAIL_URL`. */
import type { Config } from "../config.ts";
import type { MailTransport } from "./delivery.ts";
import { resendTransport } from "./resend_transport.ts";
import { smtpTransport } from "./smtp_transport.ts";

/** Null when no mail is configured. */
export function createMailTransport(
  { config, fetch }: { config: Pick<Config, "mailUrl" | "mailFrom">; fetch: typeof globalThis.fetch },
  timeoutMs = 10_000,
): MailTransport | null {
  const { mailUrl, mailFrom: from } = config;
  if (!mailUrl || !from) return null;
  const url = new URL(mailUrl);
  return url.protocol === "resend:"
    ? resendTransport({ key: url.host, from, fetch })
    : smtpTransport({ url: mailUrl, from, timeoutMs });
}
