/** The SMTP transport's interpretation of a server's replies, and of silence. */
import { assertEquals } from "@std/assert";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { MailResult } from "../../../shared/mail/delivery.ts";
import { smtpTransport } from "../../../shared/mail/smtp_transport.ts";
import { mailsTo } from "./mails.ts";

type Behaviour = Pick<SMTPServerOptions, "onRcptTo" | "onData" | "onConnect" | "onAuth">;

const refuse = (responseCode: number) => Object.assign(new Error("no"), { responseCode });

/**
 * Sends mails to these addresses through a server that behaves this way; returns each outcome, and whether a pause is
 * requested.
 */
async function deliverTo(addresses: string[], behaviour: Behaviour, { timeoutMs = 2_000 } = {}) {
  const taken: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    async onData(stream, session, done) {
      for await (const _ of stream);
      taken.push(...session.envelope.rcptTo.map(({ address }) => address));
      done();
    },
    ...behaviour,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as { port: number };
  const transport = smtpTransport({ url: `smtp://127.0.0.1:${port}`, from: "a@example.com", timeoutMs });
  const settled: MailResult[] = [];
  const { results, pause } = await transport.deliver(
    mailsTo(addresses).map((mail) => ({ ...mail, id: mail.to.split("@")[0]! })),
    { key: "key", timeoutMs, onSettled: (result) => Promise.resolve(void settled.push(result)) },
  );
  transport.close();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  const outcomes = Object.fromEntries([...settled, ...results].map(({ id, outcome, code, refused }) => [
    id,
    [outcome, code, refused].filter((part) => part !== undefined).join(" "),
  ]));
  return { outcomes, taken: taken.toSorted(), pause: pause?.code };
}

// Node's sockets under Deno keep a timer for a moment after closing.
const test = (name: string, work: () => Promise<void>) =>
  Deno.test(name, { sanitizeOps: false, sanitizeResources: false }, work);

test("one refused address blocks no other; 5xx is permanent, 4xx is temporary", async () => {
  const { outcomes, taken, pause } = await deliverTo([
    "ann@x.example",
    "gone@x.example",
    "full@x.example",
    "ben@x.example",
  ], {
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith("gone") ? refuse(550) : address.startsWith("full") ? refuse(451) : null),
  });
  assertEquals(outcomes, { ann: "sent", gone: "dead address_refused true", full: "held mail_put_off", ben: "sent" });
  assertEquals(taken, ["ann@x.example", "ben@x.example"]);
  assertEquals(pause, undefined);
});

test("a mail refused for its content does not mark the address", async () => {
  const { outcomes } = await deliverTo(["ann@x.example"], {
    async onData(stream, _session, done) {
      for await (const _ of stream);
      done(refuse(554));
    },
  });
  assertEquals(outcomes, { ann: "dead mail_refused" });
});

test("a server that accepts a mail and hangs, or drops the connection, leaves the outcome unknown", async () => {
  const hang = await deliverTo(["ann@x.example"], {
    async onData(stream) {
      for await (const _ of stream);
    },
  }, { timeoutMs: 300 });
  assertEquals(hang.outcomes, { ann: "unsure mail_no_answer" });
});

test("a malformed address is refused without connecting", async () => {
  assertEquals((await deliverTo(["not an address"], {})).outcomes, { "not an address": "dead address_refused true" });
});

test("without a server every mail is held and a pause is requested", async () => {
  const transport = smtpTransport({ url: "smtp://127.0.0.1:1", from: "a@example.com", timeoutMs: 1_000 });
  const settled: MailResult[] = [];
  const { pause } = await transport.deliver(
    ["1", "2", "3", "4", "5", "6"].map((id) => ({
      id,
      to: `${id}@x.example`,
      subject: "s",
      text: "t",
      html: "h",
      messageId: "<1@x>",
      headers: {},
    })),
    { key: "key", timeoutMs: 1_000, onSettled: (result) => Promise.resolve(void settled.push(result)) },
  );
  transport.close();
  assertEquals(settled.map(({ outcome }) => outcome), Array(6).fill("held"));
  assertEquals(pause?.code, "mail_unavailable");
});
