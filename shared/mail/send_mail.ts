/** Sends one mail over SMTP or the mail service's HTTPS API, depending on `MAIL_URL`. */
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";

export interface Mail {
  to: string;
  subject: string;
  text: string;
}

export interface MailDeps {
  config: Pick<Config, "mailUrl" | "mailFrom">;
  fetch: typeof fetch;
}

const TIMEOUT_MS = 8_000;

/** @throws {AppError} `unavailable` when mail is not configured or was not accepted. */
export async function sendMail({ config, fetch }: MailDeps, mail: Mail): Promise<void> {
  const { mailUrl, mailFrom } = config;
  if (!mailUrl || !mailFrom) throw failure("MAIL_URL or MAIL_FROM is not set");
  const url = new URL(mailUrl);
  await (url.protocol === "resend:"
    ? sendByResend(fetch, url.host, { from: mailFrom, ...mail })
    : sendBySmtp(mailUrl, { from: mailFrom, ...mail }))
    .catch((cause) => {
      throw failure(cause);
    });
}

type OutgoingMail = Mail & { from: string };

async function sendBySmtp(url: string, mail: OutgoingMail): Promise<void> {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const { default: nodemailer } = await import("nodemailer");
  const transport = nodemailer.createTransport({ url, ...timeouts });
  try {
    // Marks the mail as automatic, so that no out-of-office replies come back (RFC 3834 section 5).
    await transport.sendMail({ ...mail, headers: { "Auto-Submitted": "auto-generated" } });
  } finally {
    transport.close();
  }
}

// https://resend.com/docs/api-reference/emails/send-email
async function sendByResend(fetch: MailDeps["fetch"], key: string, mail: OutgoingMail): Promise<void> {
  const response = await fetch("https://api.resend.com/emails", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ ...mail, headers: { "Auto-Submitted": "auto-generated" } }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the mail service answered ${response.status}`);
}

const failure = (cause: unknown) =>
  new AppError("unavailable", "We could not send the mail.", {
    cause: cause instanceof Error ? cause : new Error(String(cause)),
  });
