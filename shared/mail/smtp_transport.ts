/**
 * One mail after the other over a few SMTP connections. A server knows no keys: after an answer that got lost a mail is sent again under the
 * same Message-ID, since a reminder too many is better than one too few.
 */
import nodemailer from "nodemailer";
import type { Delivery, MailResult, MailTransport, OutgoingMail } from "./delivery.ts";

const CONNECTIONS = 4;
const BATCH_SIZE = 20;
const UNREACHABLE_PAUSE_MS = 60_000;

export function smtpTransport(
  { url, from, timeoutMs }: { url: string; from: string; timeoutMs: number },
): MailTransport {
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  const pool = nodemailer.createTransport({ url, pool: true, maxConnections: CONNECTIONS, ...timeouts });
  return {
    batchSize: BATCH_SIZE,
    close: () => pool.close(),
    async deliver(mails, { onSettled }) {
      const waiting = [...mails];
      const delivery: Delivery = { results: [] };
      const work = async () => {
        for (let mail = waiting.shift(); mail; mail = waiting.shift()) {
          const { result, pause } = delivery.pause
            ? { result: { id: mail.id, outcome: "held" as const, code: delivery.pause.code }, pause: undefined }
            : await send(mail);
          if (pause) delivery.pause = pause;
          if (result.outcome === "unsure") delivery.results.push(result);
          else await onSettled(result);
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, work));
      return delivery;
    },
  };

  async function send(mail: OutgoingMail): Promise<{ result: MailResult; pause?: Delivery["pause"] }> {
    const { id, ...message } = mail;
    try {
      await pool.sendMail({ ...message, from });
      return { result: { id, outcome: "sent" } };
    } catch (thrown) {
      return judge(id, thrown as SmtpError);
    }
  }
}

/** What nodemailer says of a failure. */
interface SmtpError {
  code?: string;
  command?: string;
  /** The server's own answer, where there was one. */
  responseCode?: number;
  syscall?: string;
}

function judge(id: string, { code, command, responseCode, syscall }: SmtpError): {
  result: MailResult;
  pause?: Delivery["pause"];
} {
  if (code === "EAUTH") return unreachable(id, "mail_not_allowed");
  if (responseCode && responseCode >= 500) {
    // 5.1.x of the recipient (RFC 3463 section 3.2), or of what was said.
    return command === "RCPT TO" || code === "EENVELOPE"
      ? { result: { id, outcome: "dead", code: "address_refused", refused: true } }
      : { result: { id, outcome: "dead", code: "mail_refused" } };
  }
  if (responseCode) return { result: { id, outcome: "held", code: "mail_put_off" } };
  if (syscall === "connect" || code === "EDNS" || code === "ENOTFOUND") return unreachable(id, "mail_unavailable");
  // An address that is none never left.
  if (code === "EENVELOPE") return { result: { id, outcome: "dead", code: "address_refused", refused: true } };
  return { result: { id, outcome: "unsure", code: "mail_no_answer" } };
}

const unreachable = (id: string, code: string) => ({
  result: { id, outcome: "held" as const, code },
  pause: { code, ms: UNREACHABLE_PAUSE_MS },
});
