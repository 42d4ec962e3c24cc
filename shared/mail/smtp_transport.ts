/**
 * Sends mails one at a time over a few SMTP connections. SMTP has no idempotency keys: if a response is lost, the mail
 * is sent again with the same Message-ID. A duplicate reminder is better than a missing one.
 */
import type { Delivery, MailResult, MailTransport, OutgoingMail } from "./delivery.ts";

const CONNECTIONS = 4;
const BATCH_SIZE = 20;
const PAUSE_MS = 60_000;

export function smtpTransport(
  { url, from, timeoutMs }: { url: string; from: string; timeoutMs: number },
): MailTransport {
  // Loads with the first mail, because most runs send none, or use another transport.
  const open = async () => {
    const { default: nodemailer } = await import("nodemailer");
    return nodemailer.createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      connectionTimeout: timeoutMs,
      // Must fire before the socket timeout, whose error doesn't reveal that the server never responded.
      greetingTimeout: timeoutMs * 0.9,
      socketTimeout: timeoutMs,
    });
  };
  let pool: ReturnType<typeof open> | undefined;
  let hasTakenOne = false;
  return {
    batchSize: BATCH_SIZE,
    close: () => void pool?.then((opened) => opened.close()),
    async deliver(mails, { onSettled, timeoutMs: beginWithinMs }) {
      const startedAt = performance.now();
      const waiting = [...mails];
      const delivery: Delivery = { results: [] };
      const attempt = (mail: OutgoingMail): Judged | Promise<Judged> => {
        if (delivery.pause) return { result: { id: mail.id, outcome: "held", code: delivery.pause.code } };
        if (performance.now() - startedAt >= beginWithinMs) {
          return { result: { id: mail.id, outcome: "held", code: "mail_put_off" } };
        }
        return send(mail);
      };
      const work = async () => {
        for (let mail = waiting.shift(); mail; mail = waiting.shift()) {
          const { result, pause } = await attempt(mail);
          if (pause) delivery.pause = pause;
          if (result.outcome === "unsure") delivery.results.push(result);
          else await onSettled(result);
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, work));
      return delivery;
    },
  };

  async function send(mail: OutgoingMail): Promise<Judged> {
    const { id, ...message } = mail;
    try {
      pool ??= open();
      await (await pool).sendMail({ ...message, from });
      hasTakenOne = true;
      return { result: { id, outcome: "sent" } };
    } catch (thrown) {
      const judged = judge(id, thrown as SmtpError);
      if (judged.pause?.code !== "mail_not_allowed") return judged;
      // Whether the server rejects us or only this mail: it accepts us if it accepted another mail. In both cases,
      // the next run sends the other mails first.
      const result = { ...judged.result, alone: true };
      return hasTakenOne ? { result: { ...result, code: "mail_refused" } } : { ...judged, result };
    }
  }
}

/** The outcome of a mail, and whether the others should wait. */
interface Judged {
  result: MailResult;
  pause?: Delivery["pause"];
}

/** A nodemailer error. */
interface SmtpError {
  message: string;
  code?: string;
  /** The command that failed; `CONN` or `API` when there was none. */
  command?: string;
  /** The server's response, if any. */
  response?: string;
  responseCode?: number;
  syscall?: string;
  timeoutType?: string;
}

/** Timeouts before any mail was started; `code` is the same for one in the middle of a mail. */
const EARLY_TIMEOUTS = new Set(["CONNECT_TIMEOUT", "GREETING_TIMEOUT", "UPGRADE_TIMEOUT"]);
/** The server closed the connection at every attempt before any mail data was sent; only the message reveals it. */
const HUNG_UP = "Reached maximum number of retries";

function judge(id: string, error: SmtpError): Judged {
  const { code, message, responseCode, syscall, timeoutType } = error;
  if (code === "EAUTH") return paused(id, "mail_not_allowed");
  if (responseCode && responseCode >= 500) return judgeRefusal(id, error);
  if (responseCode) return { result: { id, outcome: "held", code: "mail_put_off" } };
  const isEarly = EARLY_TIMEOUTS.has(timeoutType ?? "") || message.startsWith(HUNG_UP);
  if (isEarly || syscall === "connect" || code === "EDNS" || code === "ENOTFOUND") {
    return paused(id, "mail_unavailable");
  }
  // Problems that nodemailer finds itself: nothing was sent.
  if (code === "EENVELOPE") {
    return message.startsWith("Invalid sender") ? paused(id, "mail_not_allowed") : badAddress(id);
  }
  if (code === "EMESSAGE") return badMail(id);
  return { result: { id, outcome: "unsure", code: "mail_no_answer" } };
}

/** Whether a 5xx is about the recipient, the mail, or us (RFC 5321 section 4.2; RFC 3463 sections 3.2 and 3.8). */
function judgeRefusal(id: string, { command, responseCode = 0, response = "" }: SmtpError): Judged {
  const status = enhancedStatus(response);
  const aboutUs = paused(id, "mail_not_allowed");
  if (status?.subject === 7) return aboutUs;
  if (command === "DATA") return badMail(id);
  // The mail is too large (RFC 1870 section 6).
  if (command !== "RCPT TO") return command === "MAIL FROM" && responseCode === 552 ? badMail(id) : aboutUs;
  if (!status) {
    if ([550, 551, 553].includes(responseCode)) return badAddress(id);
    return [530, 554].includes(responseCode) ? aboutUs : badMail(id);
  }
  if (status.subject !== 1) return badMail(id);
  // Some servers reject the sender only after RCPT TO; 5.1.7 and 5.1.8 concern the sender.
  return status.detail === 7 || status.detail === 8 ? aboutUs : badAddress(id);
}

/** The `5.x.y` code anywhere in a response (RFC 2034 section 4), except in an IP address. */
export function enhancedStatus(response: string): { subject: number; detail: number } | undefined {
  const [, subject, detail] = /(?<![\d.])5\.(\d{1,3})\.(\d{1,3})(?!\.?\d)/.exec(response) ?? [];
  return subject && detail ? { subject: Number(subject), detail: Number(detail) } : undefined;
}

const badAddress = (id: string): Judged => ({
  result: { id, outcome: "dead", code: "address_refused", refused: true },
});

const badMail = (id: string): Judged => ({ result: { id, outcome: "dead", code: "mail_refused" } });

/** Every other mail would fail as well. */
const paused = (id: string, code: string): Judged => ({
  result: { id, outcome: "held", code },
  pause: { code, ms: PAUSE_MS },
});
