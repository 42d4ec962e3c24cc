/** A loopback SMTP server that accepts all mail and delivers none; it keeps the newest in memory. */
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
  close(): Promise<void>;
}

const KEPT = 500;

/** @param onMail is called with each mail. */
export async function startMailSink(onMail: (mail: ReceivedMail) => void = () => {}): Promise<MailSink> {
  let mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onData(stream, session, done) {
      Array.fromAsync(stream as AsyncIterable<Uint8Array>)
        .then((chunks) =>
          parseMail(new Blob(chunks as BlobPart[]), session.envelope.rcptTo.map(({ address }) => address))
        )
        .then((mail) => {
          mails = [mail, ...mails].slice(0, KEPT);
          onMail(mail);
          done();
        }, done);
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
