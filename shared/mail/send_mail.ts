/** Sends one mail with the transport for `MAIL_URL`. */
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { outsidePlace } from "../http/place.ts";
import type { MailResult } from "./delivery.ts";
import { createMailTransport } from "./mail_transport.ts";

export interface Mail {
  to: string;
  subject: string;
  text?: string;
  /** Generated from the text if absent. */
  html?: string;
  /** Idempotency key: the same for each attempt to send this mail. */
  key?: string;
}

export interface MailDeps {
  config: Pick<Config, "mailUrl" | "mailFrom">;
  fetch: typeof fetch;
}

const TIMEOUT_MS = 8_000;
/** Suppresses out-of-office replies (RFC 3834 section 5). */
const HEADERS = { "Auto-Submitted": "auto-generated" };

/** @throws {AppError} `unavailable` when mail is not configured or the service did not accept the mail. */
export async function sendMail(deps: MailDeps, { key = crypto.randomUUID(), ...mail }: Mail): Promise<void> {
  const transport = createMailTransport(deps, TIMEOUT_MS);
  if (!transport) throw failure("MAIL_URL or MAIL_FROM is not set");
  const { subject, text } = mail;
  if (text !== undefined) mail.html ??= await (await import("./html_part.tsx")).htmlPart({ subject, text });
  let settled: MailResult | undefined;
  const onSettled = (result: MailResult) => Promise.resolve(void (settled = result));
  try {
    const { results: [result = settled] } = await outsidePlace(() =>
      transport.deliver([{ id: key, headers: HEADERS, ...mail }], { key, timeoutMs: TIMEOUT_MS, onSettled })
    );
    if (result?.outcome !== "sent") throw failure(result?.code);
  } finally {
    transport.close();
  }
}

const failure = (cause: unknown) =>
  new AppError("unavailable", "We could not send the mail.", { cause: new Error(String(cause)) });
