/** The mail services with signed requests: Resend, whose mail a job fetches, and Mailgun. */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { assert, assertEquals } from "@std/assert";
import type { Database } from "../../../shared/db/client.ts";
import { fetchMail } from "../../../shared/inbound/fetch_mail.ts";
import { parseInboundUrl } from "../../../shared/inbound/inbound_url.ts";
import type { GuardedFetch } from "../../../shared/net/guarded_fetch.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { asDatabase, createJob, SECRET as CRON_SECRET } from "../cron-reminders/harness.ts";
import { DOMAIN, NOW, openDoor, openInbox } from "./harness.ts";

const database = await sharedDatabase();
Deno.test.beforeEach(() => database.query("delete from app.inbound_mails").then(() => {}));

const KEY = Buffer.alloc(32, 7);
const WHSEC = `whsec_${KEY.toString("base64")}`;
const RESEND = `resend://re_Key_1:${WHSEC}@${DOMAIN}`;
const SIGNING_KEY = "key-of-mailgun-in-tests";
const MAILGUN = `mailgun://:${SIGNING_KEY}@${DOMAIN}`;
const seconds = (minutes = 0) => Math.floor(Date.parse(NOW) / 1000) + minutes * 60;

/** `email.received` as Resend sends it. */
function received(
  to: string | string[],
  { id = crypto.randomUUID(), type = "email.received", minutes = 0, key = KEY } = {},
) {
  const body = JSON.stringify({
    type,
    created_at: NOW,
    data: { email_id: id, to: [to].flat().map((one) => `Books <${one}>`), cc: [], bcc: [] },
  });
  const timestamp = String(seconds(minutes));
  const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64");
  return {
    headers: { "svix-id": "msg_1", "svix-timestamp": timestamp, "svix-signature": `v1,AAAA v1,${signature}` },
    body,
  };
}

/** A mail as Amazon SES stores it. */
const stored = (from: string, results: string, by = "inbound-smtp.eu-west-1.amazonaws.com") =>
  [
    "Return-Path: <a@example.com>",
    `Received: from mail.example.com (mail.example.com [192.0.2.1]) by ${by} with SMTP id x for in@in.example.com;`,
    " Fri, 20 Nov 2026 11:58:07 +0000 (UTC)",
    `Authentication-Results: amazonses.com; ${results}`,
    "Received: from laptop by mail.example.com; Fri, 20 Nov 2026 11:58:00 +0000",
    `Authentication-Results: amazonses.com; dmarc=pass header.from=${from.split("@")[1]}`,
    `From: ${from}`,
    "Date: Fri, 20 Nov 2026 11:58:00 +0000",
    "Subject: Receipt",
    "",
    "Total: 12.00 EUR",
  ].join("\r\n");

async function runJob(
  mails: Record<string, string>,
  { status = 200, given = asDatabase(database) as Database, now = NOW } = {},
) {
  const asked: { url: string; authorization: string | null }[] = [];
  const job = createJob({
    database: given,
    fetch: () => Promise.reject(new Error("no fetch without limits")),
    guardedFetch: (({ url, headers }) => {
      const { pathname, origin } = new URL(url);
      asked.push({ url: origin, authorization: headers?.authorization ?? null });
      const id = pathname.split("/").at(-1)!;
      const isApi = origin === "https://api.resend.com";
      const answer = JSON.stringify({ id, raw: { download_url: `https://inbound-cdn.resend.com/${id}` } });
      const body = new TextEncoder().encode(isApi ? answer : mails[id]);
      return Promise.resolve({ ok: true, status: isApi ? status : 200, headers: new Headers(), body });
    }) as GuardedFetch,
    now: () => new Date(now),
    env: { INBOUND_URL: RESEND },
  });
  const response = await job.request("/api/cron/reminders?only=inbound", {
    headers: { authorization: `Bearer ${CRON_SECRET}` },
  });
  assertEquals([response.status, (await response.json()).ok], [200, true], job.lines.join("\n"));
  return asked;
}

Deno.test("Resend's signed event is stored at once, and a job fetches and reads the mail", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), RESEND);
  const id = crypto.randomUUID();
  for (let n = 0; n < 2; n++) assertEquals((await door.request(received(inbox.address, { id }))).status, 200);
  assertEquals(await database.query("select state from app.inbound_mails"), [{ state: "arrived" }]);
  const [, domain] = inbox.email.split("@");
  const asked = await runJob({ [id]: stored(inbox.email, `spf=fail; dmarc=pass header.from=${domain}`) });
  assertEquals(asked, [
    { url: "https://api.resend.com", authorization: "Bearer re_Key_1" },
    { url: "https://inbound-cdn.resend.com", authorization: null },
  ]);
  assertEquals((await inbox.mails()).map(({ state, verdicts }) => [state, verdicts]), [
    ["read", { spf: "fail", dmarc: "pass" }],
  ]);
  assertEquals((await inbox.books.ok("list_documents")).documents.length, 1);
});

Deno.test("results that Amazon SES did not add prove nothing, and a mail that cannot be fetched is tried again", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), RESEND);
  const [one, two, three] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  for (const id of [one, two, three]) await door.request(received(inbox.address, { id }));
  await runJob({}, { status: 500 });
  assertEquals((await database.query("select attempts from app.inbound_mails where attempts > 0")).length > 0, true);
  await database.query("update app.inbound_mails set leased_until = $1", [NOW]);
  const [, domain] = inbox.email.split("@");
  const mails = {
    [one]: stored(inbox.email, "dmarc=none"),
    [two]: stored(inbox.email, `dmarc=pass header.from=${domain}`, "mx.attacker.example"),
    [three]: "Subject: nobody\r\n\r\n",
  };
  for (let run = 0; run < 3; run++) await runJob(mails);
  assertEquals((await inbox.mails()).map(({ state }) => state), ["waiting", "waiting"]);
  assertEquals(await database.query("select state from app.inbound_mails where sender = ''"), [{ state: "read" }]);
});

Deno.test("a mail that cannot be fetched for days is retried, reported to monitors and finally listed", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), RESEND);
  const id = crypto.randomUUID();
  await door.request(received(inbox.address, { id }));
  const after = (hours: number) => new Date(Date.parse(NOW) + hours * 3_600_000).toISOString();
  let hours = 0;
  for (; hours <= 100; hours += 0.5) await runJob({}, { status: 500, now: after(hours) });
  const [run] = await database.query(
    "select status, error_code from jobs.job_runs where stage = 'inbound' and status <> 'ok' order by id desc limit 1",
  );
  assertEquals(run, { status: "failed", error_code: "not_fetched" });
  assertEquals(await inbox.mails(), [], "it may still be fetched");
  for (; hours <= 135; hours += 0.5) await runJob({}, { status: 500, now: after(hours) });
  const [mail] = await inbox.mails();
  assertEquals([mail.state, mail.sender, mail.refusals], ["failed", "", ["not_fetched"]]);
});

Deno.test("Resend delivers a mail again if too much of the organization's mail waits to be fetched", async () => {
  const [full, other] = [await openInbox(database), await openInbox(database)];
  const door = openDoor(asDatabase(database), RESEND);
  await database.query(
    `insert into app.inbound_mails (organization_id, provider_id, state, leased_until, received_at)
     select $1, n, 'arrived', $2, $2 from generate_series(1, 500) as n`,
    [full.books.organizationId, NOW],
  );
  const id = crypto.randomUUID();
  const both = () => received([full.address, other.address], { id });
  const kept = async () => {
    const { status } = await door.request(both());
    const rows = await database.query("select from app.inbound_mails where provider_id = $1", [`resend:${id}`]);
    return [status, rows.length];
  };
  assertEquals((await door.request(received(full.address))).status, 503);
  assertEquals((await door.request(received(other.address))).status, 200);
  assertEquals(await kept(), [503, 1]);
  assertEquals(await kept(), [503, 1]);
  await database.query("delete from app.inbound_mails where provider_id = '1'");
  assertEquals(await kept(), [200, 2]);
  assertEquals(await kept(), [200, 2]);
});

Deno.test("an event with a wrong, old, early or missing signature is refused, and other events are acknowledged", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), RESEND);
  const to = inbox.address;
  const changed = received(to);
  const refused = [
    received(to, { key: Buffer.alloc(32, 8) }),
    received(to, { minutes: -6 }),
    received(to, { minutes: 6 }),
    { ...changed, body: changed.body.replace("resend", "x").replace("12:00", "12:01") },
    { ...changed, headers: { ...changed.headers, "svix-id": "msg_2" } },
    { ...changed, headers: { ...changed.headers, "svix-signature": "v1," } },
    { body: changed.body },
  ];
  for (const [n, init] of refused.entries()) assertEquals((await door.request(init)).status, 401, String(n));
  assertEquals((await door.request(received(to, { type: "email.sent" }))).status, 200);
  assertEquals(await database.query("select from app.inbound_mails"), []);
});

interface Form {
  raw: string;
  to: string;
  token?: string;
  minutes?: number;
  key?: string;
  more?: [string, string][];
}

/** The form that a Mailgun route posts to an address ending in mime. */
function routed(
  { raw, to, token = crypto.randomUUID().replaceAll("-", ""), minutes = 0, key = SIGNING_KEY, more = [] }: Form,
) {
  const timestamp = String(seconds(minutes));
  const form = new FormData();
  form.set("recipient", to);
  form.set("timestamp", timestamp);
  form.set("token", token);
  form.set("signature", createHmac("sha256", key).update(timestamp + token).digest("hex"));
  form.set("body-mime", raw);
  for (const [name, value] of more) form.append(name, value);
  return { body: form };
}
const checked = (from: string, checks: string[], below: string[] = []) =>
  [
    ...checks,
    "Received: from mail.example.com by mxa.mailgun.org with ESMTP id x; Fri, 20 Nov 2026 11:58:07 -0000 (UTC)",
    ...below,
    `From: ${from}`,
    "Date: Fri, 20 Nov 2026 11:58:00 +0000",
    "Subject: Receipt",
    "",
    "Total: 12.00 EUR",
  ].join("\r\n");

Deno.test("Mailgun's mail is accepted with an aligned check, and each token counts once", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), MAILGUN);
  const [, domain] = inbox.email.split("@");
  const states = async (raw: string) => {
    assertEquals((await door.request(routed({ raw, to: inbox.address }))).status, 200);
    const found = (await inbox.mails()).map(({ state }) => state);
    await database.query("delete from app.inbound_mails");
    return found[0];
  };
  const dkim = "X-Mailgun-Dkim-Check-Result: Pass";
  const signature = (d: string) => `DKIM-Signature: v=1; a=rsa-sha256; d=${d}; s=a; b=x`;
  const spf = (address: string) => ["X-Mailgun-Spf: Pass", `X-Envelope-From: <${address}>`];
  assertEquals(await states(checked(inbox.email, [dkim], [signature(domain!)])), "accepted");
  assertEquals(await states(checked(inbox.email, spf(`a@${domain}`))), "accepted");
  assertEquals(await states(checked(inbox.email, spf("a@attacker.example"))), "waiting");
  assertEquals(await states(checked(inbox.email, [dkim], [signature("attacker.example")])), "waiting");
  assertEquals(
    await states(checked(inbox.email, [dkim], [signature(domain!), signature("attacker.example")])),
    "waiting",
  );
  assertEquals(await states(checked(inbox.email, [], [dkim, signature(domain!)])), "waiting");

  const token = "t".repeat(50);
  const raw = checked(inbox.email, spf(`a@${domain}`));
  for (const one of [raw, raw, `${raw} and more`]) {
    assertEquals((await door.request(routed({ raw: one, to: inbox.address, token }))).status, 200);
  }
  assertEquals((await inbox.mails()).length, 1, "a captured signature carries no other mail");
});

Deno.test("a form with a wrong, old or doubled proof is refused", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), MAILGUN);
  const mail = { raw: checked(inbox.email, []), to: inbox.address };
  const refused: RequestInit[] = [
    routed({ ...mail, key: "another-key-of-mailgun" }),
    routed({ ...mail, minutes: -9 * 60 - 1 }),
    routed({ ...mail, minutes: 6 }),
    routed({ ...mail, token: "short" }),
    routed({ ...mail, more: [["token", "t".repeat(50)]] }),
    { body: new URLSearchParams({ recipient: inbox.address, "body-mime": mail.raw }) },
    { body: "--x", headers: { "content-type": "multipart/form-data; boundary=y" } },
    { body: "{}", headers: { "content-type": "application/json" } },
  ];
  for (const [n, init] of refused.entries()) assertEquals((await door.request(init)).status, 401, String(n));
  assertEquals((await door.request(routed({ ...mail, minutes: -8 * 60 }))).status, 200);
  assertEquals((await inbox.mails()).length, 1);
});

Deno.test("a form of many fields is refused before it is parsed", async () => {
  const inbox = await openInbox(database);
  const door = openDoor(asDatabase(database), MAILGUN);
  const mail = { raw: checked(inbox.email, []), to: inbox.address };
  const more = (count: number) => Array.from({ length: count }, (_, n): [string, string] => [`x${n}`, ""]);
  const encoded = (form: FormData) => ({ body: new URLSearchParams([...form] as [string, string][]) });
  for (const count of [190, 200]) {
    const signed = routed({ ...mail, more: more(count) }).body;
    const status = count < 200 ? 200 : 401;
    assertEquals((await door.request({ body: signed })).status, status, `${count} parts`);
    assertEquals((await door.request(encoded(signed))).status, status, `${count} pairs`);
  }
  const boundary = { "content-type": 'multipart/form-data; boundary="a"; charset=utf-8' };
  assertEquals((await door.request({ body: "--a", headers: boundary })).status, 401);
});

Deno.test("a setting without a usable secret is refused at startup", () => {
  const good = [
    RESEND,
    MAILGUN,
    `raw://a:0123456789abcdef@in.localhost`,
    `${MAILGUN},mailgun://:another-key-of-mailgun@${DOMAIN}`,
  ];
  for (const value of good) assert(parseInboundUrl(value), value);
  assertEquals(parseInboundUrl(good[3]!)!.secrets.length, 2);
  for (
    const value of [
      "smtp://a:0123456789abcdef@in.example.com",
      "raw://a:short@in.example.com",
      "raw://a:0123456789abcdef@localhost",
      `resend://re_a:not-a-key-of-svix@${DOMAIN}`,
      `resend://:${WHSEC}@${DOMAIN}`,
      `${RESEND},${MAILGUN}`,
      `${MAILGUN},mailgun://:another-key-of-mailgun@elsewhere.example`,
    ]
  ) assertEquals(parseInboundUrl(value), undefined, value);
});

Deno.test("mail that the service doesn't return is an error, never an empty mail", async () => {
  const wanted = { providerId: "resend:1", apiKey: "re_1" };
  const answering =
    (answer: unknown, mail: Awaited<ReturnType<GuardedFetch>>, status = 200): GuardedFetch => ({ url }) => {
      const body = new TextEncoder().encode(JSON.stringify(answer));
      return Promise.resolve(
        url === "https://cdn.example/1" ? mail : { ok: true, status, headers: new Headers(), body },
      );
    };
  const named = { raw: { download_url: "https://cdn.example/1" } };
  const unreachable = { ok: false, reason: "unreachable" } as const;
  const gone = { ok: true, status: 404, headers: new Headers(), body: new Uint8Array() } as const;
  for (
    const guarded of [
      answering({}, gone, 404),
      answering({ raw: null }, gone),
      answering(named, gone),
      answering(named, unreachable),
    ]
  ) assertEquals(await fetchMail(guarded, wanted).catch(() => "failed"), "failed");
  const tooLarge = { ok: false, reason: "too_large" } as const;
  assertEquals(await fetchMail(answering(named, tooLarge), wanted), undefined);
  assertEquals(await fetchMail(() => Promise.resolve(tooLarge), wanted), undefined);
});
