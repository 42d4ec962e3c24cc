/** A mail to the stack's own SMTP port becomes a document. */
import { assertEquals, assertMatch } from "@std/assert";
import nodemailer from "nodemailer";
import { createInboundMailApp } from "../../functions/inbound-mail/app.ts";
import { handOverTo } from "../../local/mail/hand_over.ts";
import { startMailSink } from "../../local/mail/smtp_sink.ts";
import { sharedDatabase } from "../_support/database.ts";
import { openDoor, openInbox, readMails } from "../functions/inbound-mail/harness.ts";
import { asDatabase } from "../functions/cron-reminders/harness.ts";
import { readConfig } from "../../shared/config.ts";
import { createLog } from "../../shared/log.ts";
import { writeMail } from "../_support/documents/mail.ts";

const database = await sharedDatabase();

const none = () => Promise.reject(new Error("nothing is fetched here"));
const URL = "raw://stack:a-secret-of-the-stack@in.localhost";

function functionsOf(lines: string[]) {
  const config = readConfig({ NEXT_PUBLIC_SITE_URL: "http://127.0.0.1", INBOUND_URL: URL }, []);
  const app = createInboundMailApp({
    config,
    database: asDatabase(database),
    clock: () => new Date("2026-11-20T12:00:00Z"),
    log: createLog((line) => lines.push(line)),
    fetch: none,
    guardedFetch: none,
  });
  return { config, handle: async (request: Request) => await app.fetch(request) };
}

Deno.test("mail to an organization's address becomes a document, and other mail stays in the mailbox", async () => {
  const lines: string[] = [];
  const { config, handle } = functionsOf(lines);
  const inbox = await openInbox(database);
  const [local] = inbox.address.split("@");
  const sink = await startMailSink();
  sink.handOver("in.localhost", handOverTo(handle, config.inbound!));
  const transport = nodemailer.createTransport({ host: "127.0.0.1", port: sink.port });
  try {
    const raw = new TextDecoder().decode(writeMail({ parts: [{ type: "text/plain", content: "Total: 12.00 EUR" }] }))
      .replace("From: Billing <billing@energy.example>", `From: ${inbox.email}`);
    const envelope = { from: "anybody@example.com", to: `${local}@in.localhost` };
    await transport.sendMail({ envelope, raw });
    assertEquals(sink.list(), []);
    await transport.sendMail({ from: "a@example.com", to: "b@example.com", subject: "Hello" });
    assertEquals(sink.list().map(({ subject }) => subject), ["Hello"]);
    assertEquals((await readMails(database)).mails, 1);
    const { documents } = await inbox.books.ok("list_documents");
    assertEquals(documents.map(({ type }: { type: string }) => type), ["message/rfc822"]);

    sink.handOver(
      "in.localhost",
      handOverTo(() => Promise.resolve(new Response(null, { status: 503 })), config.inbound!),
    );
    const failed = await transport.sendMail({ envelope, raw }).catch((error) => error.message);
    assertMatch(failed, /503/);
  } finally {
    transport.close();
    await sink.close();
  }
});

Deno.test("a mail server's results count, and forged results do not", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), URL);
  const [local] = inbox.address.split("@");
  const hop = "Received: from mail.example.com by mx.in.localhost with ESMTP; Fri, 20 Nov 2026 11:00:00 +0000";
  const domain = inbox.email.split("@")[1];
  const post = async (above: string[], below: string[] = []) => {
    const raw = [...above, hop, ...below, `From: ${inbox.email}`, "Subject: a", "Date: x", "", crypto.randomUUID()];
    const response = await door.request({
      headers: {
        "authorization": `Basic ${btoa("stack:a-secret-of-the-stack")}`,
        "x-recipients": `${local}@in.localhost`,
      },
      body: raw.join("\r\n"),
    });
    assertEquals(response.status, 200);
    const states = (await inbox.mails()).map(({ state }) => state);
    await database.query("delete from app.inbound_mails");
    return states;
  };
  const results = (text: string) => `Authentication-Results: in.localhost; ${text}`;
  assertEquals(await post([results(`dmarc=pass header.from=${domain}`)]), ["accepted"]);
  assertEquals(await post([results(`spf=pass smtp.mailfrom=a@${domain};\r\n dkim=none`)]), ["accepted"]);
  assertEquals(await post([results(`dkim=fail; dkim=pass (2048 bits; x) header.d=${domain}`)]), ["accepted"]);
  for (
    const above of [
      [],
      [results("dmarc=none")],
      [results("dkim=pass header.d=attacker.example; spf=pass smtp.mailfrom=a@attacker.example")],
      [results(`dkim=pass header.d=com; spf=pass smtp.mailfrom=a@mail.${domain}`)],
      [results(`dkim=pass header.d=${domain}; dmarc=fail header.from=${domain}`)],
      [results(`x=(dmarc=pass header.from=${domain})`)],
      [`Authentication-Results: elsewhere.example; dmarc=pass header.from=${domain}`],
    ]
  ) {
    assertEquals(await post(above), ["waiting"], above[0]);
  }
  assertEquals(await post([], [results(`dmarc=pass header.from=${domain}`)]), ["waiting"]);
  assertEquals(await post([], [results(`dmarc=pass header.from=${domain}`), hop]), ["waiting"]);
});
