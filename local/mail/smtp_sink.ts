/**
 * A loopback SMTP server. It keeps the stack's newest mails in memory instead of delivering them, and forwards mail for
 * organizations' addresses to the inbound-mail function.
 */
import type { AddressInfo } from "node:net";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";

/** A received mail as listed by `GET …/mail`. */
export interface ReceivedMail {
  id: string;
  /** Envelope addresses, lower case, separated by ", ". */
  to: string;
  from: string;
  subject: string;
  text: string;
  html: string;
  /** By lower-case name; the last value of a repeated one. */
  headers: Record<string, string>;
  /** ISO 8601. */
  received_at: string;
}

export interface MailSink {
  port: number;
  /** Newest first. */
  list(to?: string): ReceivedMail[];
  clear(): void;
  /** Starts forwarding mail for a domain; the SMTP client gets an error if that fails. */
  handOver(domain: string, take: TakeMail): void;
  close(): Promise<void>;
}

/** Accepts a mail with its envelope's recipients. */
export type TakeMail = (raw: Uint8Array, recipients: string[]) => Promise<void>;

const KEPT = 500;
const LARGEST_MAIL = 10 * 1024 * 1024;

/** @param onMail is called with each mail. */
export async function startMailSink(onMail: (mail: ReceivedMail) => void = () => {}): Promise<MailSink> {
  let mails: ReceivedMail[] = [];
  let inbound: { domain: string; take: TakeMail } | undefined;
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    size: LARGEST_MAIL,
    onData(stream, session, done) {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      const isInbound = (to: string) => inbound !== undefined && to.toLowerCase().endsWith(`@${inbound.domain}`);
      const receive = async () => {
        const raw = new Blob(await Array.fromAsync(stream as AsyncIterable<Uint8Array>) as BlobPart[]);
        const inwards = recipients.filter(isInbound);
        if (inwards.length > 0) await inbound!.take(await raw.bytes(), inwards);
        if (inwards.length === recipients.length) return;
        const mail = await parseMail(raw, recipients);
        mails = [mail, ...mails].slice(0, KEPT);
        onMail(mail);
      };
      receive().then(() => done(), done);
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  // A client that disconnects must not end the stack.
  server.removeAllListeners("error").on("error", () => {});
  return {
    port: (server.server.address() as AddressInfo).port,
    list: (to) => to ? mails.filter((mail) => mail.to.split(", ").includes(to.toLowerCase())) : mails,
    clear: () => void (mails = []),
    handOver: (domain, take) => void (inbound = { domain, take }),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

async function parseMail(raw: Blob, to: string[]): Promise<ReceivedMail> {
  const mail = await PostalMime.parse(raw);
  return {
    id: crypto.randomUUID(),
    to: to.join(", ").toLowerCase(),
    from: mail.from?.address ?? "",
    subject: mail.subject ?? "",
    text: mail.text ?? "",
    html: mail.html ?? "",
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, value])),
    received_at: new Date().toISOString(),
  };
}
