/** The local port: mailbox, clock and access to them. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createTransport } from "nodemailer";
import { movableClock } from "../../local/clock.ts";
import { createLocalRoutes } from "../../local/local_routes.ts";
import { startMailSink } from "../../local/mail/smtp_sink.ts";

const BASE = "/a-secret";
const LOCAL = `http://127.0.0.1:54321${BASE}`;
const OPTIONS = { base: BASE, siteUrl: "http://127.0.0.1:7400" };

Deno.test("the mailbox receives over SMTP and serves JSON, a page, and nothing after DELETE", async () => {
  const mail = await startMailSink();
  const app = createLocalRoutes({ ...OPTIONS, mail, clock: movableClock(() => {}) });
  const get = (path: string, headers = {}) => app.request(`${LOCAL}${path}`, { headers });
  try {
    const mailer = createTransport({ host: "127.0.0.1", port: mail.port, ignoreTLS: true });
    const send = (to: string, subject: string) =>
      mailer.sendMail({
        from: "Expenses <expenses@localhost>",
        to,
        subject,
        text: "Größe: 1,5 m",
        html: `<p>Größe</p><script>alert(1)</script>`,
        headers: { "List-Unsubscribe": "<https://example.com/u>" },
      });
    await send("Ann@example.com", "First");
    await send("ben@example.com", "Zweite: Übung");

    const [second, first, ...rest] = await (await get("/mail")).json();
    assertEquals(rest, []);
    assertEquals([first.subject, second.subject], ["First", "Zweite: Übung"]);
    const { id, to, from, text, html, headers, received_at } = first;
    assertEquals({ to, from, text: text.trim() }, {
      to: "ann@example.com",
      from: "expenses@localhost",
      text: "Größe: 1,5 m",
    });
    assertMatch(html, /<p>Größe<\/p>/);
    assertEquals(headers["list-unsubscribe"], "<https://example.com/u>");
    assert(id && !Number.isNaN(Date.parse(received_at)));
    assertEquals((await (await get("/mail?to=ann@example.com")).json()).length, 1);

    const page = await (await get("/mail", { accept: "text/html,*/*" })).text();
    assertMatch(page, /Zweite: Übung/);
    assertMatch(page, /srcdoc="[^"]*&lt;script&gt;/);
    // The only script is the page's own.
    assertEquals(page.match(/<script/g)?.length, 1);
    assertMatch(page, /<script nonce=/);
    assert(!/sandbox="[^"]*(scripts|forms)/.test(page));

    assertEquals((await app.request(`${LOCAL}/mail`, { method: "DELETE" })).status, 204);
    assertEquals(await (await get("/mail")).json(), []);
  } finally {
    await mail.close();
  }
});

Deno.test("the clock moves, keeps ticking and returns to real time", async () => {
  const offsets: number[] = [];
  const clock = movableClock((offset) => offsets.push(offset));
  const app = createLocalRoutes({ ...OPTIONS, mail: noMail, clock });
  const move = (now: unknown) => app.request(`${LOCAL}/clock`, { method: "POST", body: JSON.stringify({ now }) });

  const target = Date.parse("2030-05-01T08:00:00Z");
  assertEquals((await move("2030-05-01T08:00:00Z")).status, 200);
  const before = clock.now().getTime();
  assert(before >= target);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert(clock.now().getTime() > before);
  await move(null);
  const earliest = Date.now();
  const back = clock.now().getTime();
  assert(back >= earliest && back <= Date.now());
  assertEquals(offsets.length, 2);
  for (const wrong of ["soon", 5, undefined, {}]) {
    assertEquals((await move(wrong)).status, 400);
  }
  assertEquals(offsets.length, 2);
});

Deno.test("the local port refuses other sites, forwarded requests and paths without its secret", async () => {
  const app = createLocalRoutes({ ...OPTIONS, mail: noMail, clock: movableClock(() => {}) });
  const status = async (url: string, headers: HeadersInit = {}, method = "GET") =>
    (await app.request(url, { method, headers })).status;
  const mail = `${LOCAL}/mail`;
  assertEquals([await status(mail), await status(mail, {}, "DELETE")], [200, 204]);

  for (const path of ["/mail", "/local/mail", "/a-secreT/mail", "/a-secret-/mail", "/clock", "/providers/x/y", "/"]) {
    assertEquals(await status(`http://127.0.0.1:54321${path}`), 404, path);
  }
  assertEquals(await status(`http://evil.example:54321${BASE}/mail`), 403, "DNS rebinding");
  for (const origin of ["https://evil.example", "http://127.0.0.1.evil.example", "null", "file://", ""]) {
    for (const method of ["GET", "DELETE"]) assertEquals(await status(mail, { origin }, method), 403, origin);
  }
  // A page on another port of this machine, such as our own site.
  assertEquals(await status(mail, { origin: "http://127.0.0.1:7400" }, "DELETE"), 204);
  assertEquals(await status(mail, { "sec-fetch-site": "cross-site" }, "DELETE"), 403);
  assertEquals(await status(mail, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" }), 200);

  const added =
    "forwarded via x-forwarded-for x-forwarded-host x-forwarded-proto x-forwarded-whatever cf-connecting-ip " +
    "cf-ray x-real-ip true-client-ip x-original-host fly-client-ip";
  for (const name of added.split(" ")) assertEquals(await status(mail, { [name]: "127.0.0.1" }), 403, name);
});

const noMail = { list: () => [], clear: () => {} };
