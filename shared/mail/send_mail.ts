/** Sends one mail over SMTP or the mail service's HTTPS API, depending on `MAIL_URL`. */
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { outsidePlace } from "../http/place.ts";

export interface Mail {
  to: string;
  subject: string;
  text?: string;
  html?: string;
  /** What makes a repeated attempt the same mail, for a mail service that took it and could not say so. */
  key?: string;
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
  const { key, ...message } = mail;
  const send = () =>
    url.protocol === "resend:"
      ? sendByResend(fetch, url.host, { message: { from: mailFrom, ...message }, key })
      : sendBySmtp(mailUrl, { from: mailFrom, ...message });
  await outsidePlace(send).catch((cause) => {
    throw failure(cause);
  });
}

type OutgoingMail = Omit<Mail, "key"> & { from: string };

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

// https://resend.com/docs/api-reference/emails/send-email, …/dashboard/emails/idempotency-keys
async function sendByResend(
  fetch: MailDeps["fetch"],
  secret: string,
  { message, key }: { message: OutgoingMail; key: string | undefined },
): Promise<void> {
  const response = await fetch("https://api.resend.com/emails", {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      ...(key && { "idempotency-key": key }),
    },
    body: JSON.stringify({ ...message, headers: { "Auto-Submitted": "auto-generated" } }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer: { id?: unknown; name?: unknown } | null = await response.json().catch(() => null);
  // The key is known with other words: it was taken then.
  if (response.status === 409 && answer?.name === "invalid_idempotent_request") return;
  // A success that names no mail is somebody else's.
  if (!response.ok || typeof answer?.id !== "string") throw new Error(`the mail service answered ${response.status}`);
}

const failure = (cause: unknown) =>
  new AppError("unavailable", "We could not send the mail.", {
    cause: cause instanceof Error ? cause : new Error(String(cause)),
  });
