/**
 * One mail after the other over a few SMTP connections. A server knows no keys: after an answer that got lost a mail is sent again under the
 * same Message-ID, since a reminder too many is better than one too few.
 */
import nodemailer from "nodemailer";
import type { Delivery, MailResult, MailTransport, OutgoingMail } from "./delivery.ts";

const CONNECTIONS = 4;
const BATCH_SIZE = 20;
const PAUSE_MS = 60_000;

export function smtpTransport(
  { url, from, timeoutMs }: { url: string; from: string; timeoutMs: number },
): MailTransport {
  const pool = nodemailer.createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: timeoutMs,
    // Before the socket's, which does not say that nothing was said yet.
    greetingTimeout: timeoutMs * 0.9,
    socketTimeout: timeoutMs,
  });
  let hasTakenOne = false;
  return {
    batchSize: BATCH_SIZE,
    close: () => pool.close(),
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
      await pool.sendMail({ ...message, from });
      hasTakenOne = true;
      return { result: { id, outcome: "sent" } };
    } catch (thrown) {
      const judged = judge(id, thrown as SmtpError);
      if (judged.pause?.code !== "mail_not_allowed") return judged;
      // Us, or this mail alone? Who took another one has nothing against us. In either case the others come first the next time.
      const result = { ...judged.result, alone: true };
      return hasTakenOne ? { result: { ...result, code: "mail_refused" } } : { ...judged, result };
    }
  }
}

/** What became of a mail, and whether the others should wait. */
interface Judged {
  result: MailResult;
  pause?: Delivery["pause"];
}

/** What nodemailer says of a failure. */
interface SmtpError {
  message: string;
  code?: string;
  /** What the server answered to, or `CONN` and `API` for none. */
  command?: string;
  /** The server's own answer, where there was one. */
  response?: string;
  responseCode?: number;
  syscall?: string;
  timeoutType?: string;
}

/** Time that ran out before any mail was begun; `code` is the same for one in the middle of a mail. */
const EARLY_TIMEOUTS = new Set(["CONNECT_TIMEOUT", "GREETING_TIMEOUT", "UPGRADE_TIMEOUT"]);
/** Called several times, and each time the server hung up before a byte of the mail was sent; only the words tell. */
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
  // What nodemailer finds wrong itself never left.
  if (code === "EENVELOPE") {
    return message.startsWith("Invalid sender") ? paused(id, "mail_not_allowed") : badAddress(id);
  }
  if (code === "EMESSAGE") return badMail(id);
  return { result: { id, outcome: "unsure", code: "mail_no_answer" } };
}

/** Which of the three a 5xx is about: the recipient, the mail, or us (RFC 5321 section 4.2; RFC 3463 sections 3.2 and 3.8). */
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
  // Some refuse the sender only once they know the recipient: 5.1.7 and 5.1.8 are the sender's.
  return status.detail === 7 || status.detail === 8 ? aboutUs : badAddress(id);
}

/** The `5.x.y` of an answer (RFC 2034 section 4), at its beginning or wherever else it is told; not a part of an IP address. */
export function enhancedStatus(response: string): { subject: number; detail: number } | undefined {
  const [, subject, detail] = /(?<![\d.])5\.(\d{1,3})\.(\d{1,3})(?!\.?\d)/.exec(response) ?? [];
  return subject && detail ? { subject: Number(subject), detail: Number(detail) } : undefined;
}

const badAddress = (id: string): Judged => ({
  result: { id, outcome: "dead", code: "address_refused", refused: true },
});

const badMail = (id: string): Judged => ({ result: { id, outcome: "dead", code: "mail_refused" } });

/** No other mail would fare better. */
const paused = (id: string, code: string): Judged => ({
  result: { id, outcome: "held", code },
  pause: { code, ms: PAUSE_MS },
});
