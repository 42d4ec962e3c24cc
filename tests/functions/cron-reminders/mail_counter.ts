/** A mail server that accepts every mail and only counts deliveries per mail and per bill. */
import { SMTPServer } from "smtp-server";
import { billsIn } from "./crashes.ts";

export interface MailCounter {
  /** `smtp://…` for the job's configuration. */
  url: string;
  /** Deliveries per Message-ID. */
  mails: Map<string, number>;
  /** Mails per bill. */
  bills: Map<string, number>;
  close(): Promise<void>;
}

/**
 * Node's sockets under Deno end a moment after they are closed, so tests with this server switch off the sanitizers.
 */
export async function startMailCounter(): Promise<MailCounter> {
  const mails = new Map<string, number>();
  const bills = new Map<string, number>();
  const count = (counts: Map<string, number>, key: string) => void counts.set(key, (counts.get(key) ?? 0) + 1);
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    async onData(stream, _session, done) {
      let raw = "";
      for await (const chunk of stream) raw += chunk;
      count(mails, /^Message-ID:\s+(\S+)/im.exec(raw)![1]!);
      for (const bill of billsIn(raw)) count(bills, bill);
      done();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as { port: number };
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    bills,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
