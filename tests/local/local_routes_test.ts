/** `/local/…`: mailbox, clock and access to them. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createTransport } from "nodemailer";
import { movableClock } from "../../local/clock.ts";
import { createLocalRoutes } from "../../local/local_routes.ts";
import { startMailSink } from "../../local/mail/smtp_sink.ts";

const SITE = "http://127.0.0.1:54321";

Deno.test("the mailbox receives over SMTP and serves JSON, a page, and nothing after DELETE", async () => {
  const mail = await startMailSink();
  const app = createLocalRoutes({ mail, clock: movableClock(() => {}), isHealthy: () => Promise.resolve(true) });
  const get = (path: string, headers = {}) => app.request(`${SITE}${path}`, { headers });
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

    const [second, first, ...rest] = await (await get("/local/mail")).json();
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
    assertEquals((await (await get("/local/mail?to=ann@example.com")).json()).length, 1);

    const page = await (await get("/local/mail", { accept: "text/html,*/*" })).text();
    assertMatch(page, /Zweite: Übung/);
    assertMatch(page, /srcdoc="[^"]*&lt;script&gt;/);
    // The only script is the page's own.
    assertEquals(page.match(/<script/g)?.length, 1);
    assertMatch(page, /<script nonce=/);
    assert(!/sandbox="[^"]*(scripts|forms)/.test(page));

    assertEquals((await app.request(`${SITE}/local/mail`, { method: "DELETE" })).status, 204);
    assertEquals(await (await get("/local/mail")).json(), []);
  } finally {
    await mail.close();
  }
});

Deno.test("the clock moves, keeps ticking and goes back to real time", async () => {
  const offsets: number[] = [];
  const clock = movableClock((offset) => offsets.push(offset));
  const app = createLocalRoutes({ mail: noMail, clock, isHealthy: () => Promise.resolve(true) });
  const move = (now: unknown) => app.request(`${SITE}/local/clock`, { method: "POST", body: JSON.stringify({ now }) });

  const target = Date.parse("2030-05-01T08:00:00Z");
  assertEquals((await move("2030-05-01T08:00:00Z")).status, 200);
  const before = clock.now().getTime();
  assert(before >= target && before < target + 1000);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert(clock.now().getTime() > before);
  await move(null);
  assert(Math.abs(clock.now().getTime() - Date.now()) < 1000);
  assertEquals(offsets.length, 2);
  for (const wrong of ["soon", 5, undefined, {}]) {
    assertEquals((await move(wrong)).status, 400);
  }
  assertEquals(offsets.length, 2);
});

Deno.test("other sites cannot reach anything below /local", async () => {
  const app = createLocalRoutes({
    mail: noMail,
    clock: movableClock(() => {}),
    isHealthy: () => Promise.resolve(true),
  });
  const status = async (url: string, init: RequestInit = {}) => (await app.request(url, init)).status;
  assertEquals(await status("http://evil.example:54321/local/mail"), 403);
  assertEquals(
    await status(`${SITE}/local/mail`, { method: "DELETE", headers: { origin: "https://evil.example" } }),
    403,
  );
  assertEquals(await status(`${SITE}/local/mail`, { method: "DELETE", headers: { origin: "null" } }), 403);
  assertEquals(await status(`${SITE}/local/mail`, { method: "DELETE", headers: { origin: SITE } }), 204);
  const ownForm = { "origin": "null", "sec-fetch-site": "same-origin" };
  assertEquals(await status(`${SITE}/local/mail`, { method: "DELETE", headers: ownForm }), 204);
  const foreignForm = { "origin": "null", "sec-fetch-site": "cross-site" };
  assertEquals(await status(`${SITE}/local/mail`, { method: "DELETE", headers: foreignForm }), 403);
});

const noMail = { port: 0, list: () => [], clear: () => {}, close: () => Promise.resolve() };
