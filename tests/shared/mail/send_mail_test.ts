import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { SMTPServer } from "smtp-server";
import { AppError } from "../../../shared/errors.ts";
import { type MailDeps, sendMail } from "../../../shared/mail/send_mail.ts";

const MAIL = { to: "mira@example.com", subject: "Grüße", text: "Hello\n", html: "<p>Hello</p>" };
const from = "Expenses <expenses@example.com>";
const SENT = [{ from, ...MAIL, to: [MAIL.to], headers: { "Auto-Submitted": "auto-generated" } }];

/** The mail service over https, always responding with one status. */
function service(status: number, answer: string = '{"data":[{"id":"1"}]}') {
  const calls: { url: string; headers: Headers; body: unknown }[] = [];
  const deps: MailDeps = {
    config: { mailUrl: "resend://re_Key_1", mailFrom: from },
    fetch: (url, init) => {
      calls.push({ url: String(url), headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) });
      return Promise.resolve(new Response(answer, { status }));
    },
  };
  return { calls, deps };
}

Deno.test("sendMail() sends the mail to the mail service with the key in MAIL_URL", async () => {
  const { calls, deps } = service(200);
  await sendMail(deps, MAIL);
  assertEquals(calls[0]!.url, "https://api.resend.com/emails/batch");
  assertEquals(calls[0]!.headers.get("authorization"), "Bearer re_Key_1");
  assertEquals(calls[0]!.body, SENT);
  assertMatch(calls[0]!.headers.get("idempotency-key")!, /^[0-9a-f-]{36}$/);
});

Deno.test("sendMail() sends the idempotency key, and treats a success response without an id as a failure", async () => {
  const { calls, deps } = service(200);
  await sendMail(deps, { ...MAIL, key: "proposal-mail/1" });
  assertEquals(calls[0]!.headers.get("idempotency-key"), "proposal-mail/1");
  assertEquals(calls[0]!.body, SENT);
  await sendMail(service(409, '{"name":"invalid_idempotent_request"}').deps, { ...MAIL, key: "proposal-mail/1" });
  for (
    const { deps } of [
      service(409, '{"name":"concurrent_idempotent_requests"}'),
      service(200, "{}"),
      service(200, "<h1>It works!</h1>"),
    ]
  ) assertEquals((await assertRejects(() => sendMail(deps, MAIL), AppError)).code, "unavailable");
});

Deno.test("sendMail() turns a text into an HTML part: a link becomes a button, and markup stays text", async () => {
  const { calls, deps } = service(200);
  const text = "Hi <b>Mira</b>,\n\nRead more:\nhttps://expenses.example.com/?a=1&b=2\n";
  await sendMail(deps, { to: MAIL.to, subject: "<Hello>", text });
  const [{ html }] = calls[0]!.body as [{ html: string }];
  assertStringIncludes(html, "<title>&lt;Hello&gt;</title>");
  assertStringIncludes(html, "Hi &lt;b&gt;Mira&lt;/b&gt;,");
  assertMatch(html, /<a href="https:\/\/expenses.example.com\/\?a=1&amp;b=2" style="[^"]+">Read more<\/a>/);
});

// Node's sockets under Deno 2.1 keep a timer for a moment after closing.
Deno.test("sendMail() sends over SMTP", { sanitizeOps: false }, async () => {
  const received: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    async onData(stream, _session, done) {
      let text = "";
      for await (const chunk of stream) text += chunk;
      received.push(text);
      done();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as { port: number };
  await sendMail({ config: { mailUrl: `smtp://127.0.0.1:${port}`, mailFrom: from }, fetch }, MAIL);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  assertEquals(received.length, 1);
  assertStringIncludes(received[0]!, "To: mira@example.com");
  assertStringIncludes(received[0]!, "Auto-Submitted: auto-generated");
});

Deno.test("sendMail() throws unavailable when the mail is not accepted, and reveals no key", async () => {
  const closed = { config: { mailUrl: "smtp://127.0.0.1:1", mailFrom: from }, fetch };
  for (const deps of [service(422).deps, service(500).deps, closed, { config: {}, fetch }]) {
    const error = await assertRejects(() => sendMail(deps, MAIL), AppError);
    assertEquals(error.code, "unavailable");
    assert(!Deno.inspect(error).includes("re_Key_1"));
  }
});
