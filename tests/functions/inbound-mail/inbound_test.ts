/** A forwarded mail from arrival at the organization's address to the document on its bill. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { type Json, openBooks } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import {
  authorized,
  DOMAIN,
  emailOf,
  inboundStore,
  type Inbox,
  invoice,
  NOW,
  openDoor,
  openInbox,
  PASSWORD,
  posted,
  rawMail,
  readMails,
  SIGNED,
  type TestMail,
} from "./harness.ts";

const database = await sharedDatabase();
// Each test reads only its own mail.
Deno.test.beforeEach(() => database.query("delete from app.inbound_mails").then(() => {}));
const door = openDoor(asDatabase(database));

async function send(inbox: Inbox, mail: TestMail, { to = inbox.address, id }: { to?: string; id?: string } = {}) {
  const response = await door.request(posted(rawMail(mail), to, id));
  assertEquals([response.status, await response.json()], [200, { status: "ok" }], door.lines.at(-1));
}
const documents = async (inbox: Inbox): Promise<Json[]> => (await inbox.books.ok("list_documents")).documents;

const POWER = {
  name: "Power",
  payee: "Stadtwerke München",
  amount_mode: "variable",
  frequency: "monthly",
  first_due: "2026-11-25",
};

Deno.test("a member's signed mail is read in the member's name, and its invoice sets the bill's amount", async () => {
  const inbox = await openInbox(database);
  const { bill } = await inbox.books.ok("add_bill", POWER);
  await send(inbox, {
    from: `Ana <${inbox.email.toUpperCase()}>`,
    tests: SIGNED,
    subject: "=?utf-8?q?Fwd:_M=C3=A4rz?=",
  });
  const [waiting] = await inbox.mails();
  assertEquals([waiting.state, waiting.sender, waiting.subject], ["accepted", inbox.email, "Fwd: März"]);
  assertEquals([waiting.is_proven, waiting.verdicts], [true, { dkim: "pass" }]);
  const counts = await readMails(database);
  assertEquals([counts.ok, counts.mails, counts.documents], [true, 1, 1], counts.lines.join("\n"));
  const [document] = await documents(inbox);
  assertEquals(document.filed, { id: bill.id, name: "Power", due_on: "2026-11-25" });
  assertEquals([document.name, document.added_by], ["invoice.xml", inbox.email]);
  assertEquals((await inbox.books.ok("list_bills", { bill_id: bill.id })).bills[0].amount, "84.20");
  const [read] = await inbox.mails();
  assertEquals([read.state, read.documents, read.refusals], ["read", [document.id], []]);
  assertEquals(await database.query("select from app.inbound_mails where content is not null"), []);
});

Deno.test("a mail delivered twice, before or after it was read, is stored and read once", async () => {
  const inbox = await openInbox(database);
  const mail = { from: inbox.email, tests: SIGNED };
  await send(inbox, mail, { id: "same" });
  await send(inbox, mail, { id: "same" });
  assertEquals((await inbox.mails()).length, 1);
  await readMails(database);
  await send(inbox, mail, { id: "same" });
  assertEquals((await readMails(database)).mails, 0);
  // The same file in another mail is the same document.
  await send(inbox, mail, { id: "another" });
  assertEquals((await readMails(database)).mails, 1);
  assertEquals((await documents(inbox)).length, 1);
});

Deno.test("mail in a member's name without proof waits, even with forged results and two authors", async () => {
  const inbox = await openInbox(database);
  const from = inbox.email;
  await send(inbox, { from });
  await send(inbox, { from, tests: "DKIM_SIGNED,DKIM_VALID" });
  await send(inbox, { from, forged: [`X-Spam-Tests: ${SIGNED}`, "Received-SPF: pass identity=mailfrom"] });
  await send(inbox, { from, spf: 'pass (x) identity=mailfrom; envelope-from="<a@attacker.example>"' });
  await send(inbox, { from, spf: 'pass (x) identity=helo; helo=example.com; envelope-from="<a@example.com>"' });
  assertEquals((await inbox.mails()).map(({ state }) => state), Array(5).fill("waiting"));
  await send(inbox, { from: `${from}, b@attacker.example`, tests: SIGNED });
  await send(inbox, { from: `a@attacker.example\r\nFrom: ${from}`, tests: SIGNED });
  assertEquals((await inbox.mails()).length, 5, "nobody can tell who sent the last two");
  await send(inbox, { from, spf: 'Pass (x) identity=mailfrom; envelope-from="<a@example.com>"' });
  assertEquals((await inbox.mails()).filter(({ state }) => state === "accepted").length, 1);
});

Deno.test("accepting one unproven mail in a member's name neither trusts nor blocks the address", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: inbox.email });
  await send(inbox, { from: inbox.email, attachments: [{ name: "b.xml", content: invoice("SW-2") }] });
  const [one, other] = await inbox.mails();
  assert(one.is_members);
  assertEquals(await inbox.change("accept", one.id), { outcome: "changed" });
  assertEquals((await readMails(database)).mails, 1);
  assertEquals(await inbox.change("block", other.id), { outcome: "changed" });
  assertEquals((await inbox.page()).senders, []);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  assertEquals((await readMails(database)).mails, 1);
});

Deno.test("a stranger's mail waits, and accepting it accepts all mail of the sender", async () => {
  const inbox = await openInbox(database);
  const from = "Power <billing@power.example>";
  const mail = (number: string) => ({ from, attachments: [{ name: "a.xml", content: invoice(number) }] });
  await send(inbox, mail("1"));
  await send(inbox, mail("2"));
  assertEquals((await readMails(database)).mails, 0);
  assertEquals(await documents(inbox), []);
  const [one] = await inbox.mails();
  assertEquals(await inbox.change("accept", one.id), { outcome: "changed" });
  assertEquals(await inbox.change("accept", one.id), { outcome: "gone" }, "twice");
  assertEquals((await readMails(database)).mails, 2);
  await send(inbox, mail("3"));
  assertEquals((await readMails(database)).mails, 1);
  assertEquals((await documents(inbox)).length, 3);
  assertEquals((await inbox.page()).senders, [
    { address: "billing@power.example", is_accepted: true, decided_by: inbox.email },
  ]);
  await inbox.change("forget", "billing@power.example");
  await send(inbox, mail("4"));
  assertEquals((await inbox.mails()).filter(({ state }) => state === "waiting").length, 1);
});

Deno.test("a sender accepted with proof needs proof from then on", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: "billing@power.example", tests: SIGNED });
  await inbox.change("accept", (await inbox.mails())[0].id);
  await readMails(database);
  await send(inbox, { from: "billing@power.example" });
  await send(inbox, { from: "billing@power.example", tests: SIGNED });
  assertEquals((await inbox.mails()).map(({ state }) => state).toSorted(), ["accepted", "read", "waiting"]);
});

Deno.test("blocking a sender deletes the sender's mail and drops later mail", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: "spam@spam.example" });
  await send(inbox, { from: "spam@spam.example" });
  await inbox.change("block", (await inbox.mails())[0].id);
  assertEquals(await inbox.mails(), []);
  await send(inbox, { from: "spam@spam.example", tests: SIGNED });
  assertEquals(await inbox.mails(), []);
  assertEquals((await inbox.page()).senders[0].is_accepted, false);
  assertEquals(await database.query("select from app.inbound_mails where content is not null or subject <> ''"), []);
});

Deno.test("replaced, unknown and foreign addresses receive nothing and return the same response", async () => {
  const inbox = await openInbox(database);
  const mail = { from: inbox.email, tests: SIGNED };
  await inbox.change("rotate");
  await send(inbox, mail);
  await send(inbox, mail, { to: `in+00000000000000000000@${DOMAIN}` });
  const fresh = (await inbox.page()).token;
  await send(inbox, mail, { to: `in+${fresh}@elsewhere.example` });
  assertEquals(await inbox.mails(), []);
  await send(inbox, mail, { to: ` IN+${fresh.toUpperCase()}@${DOMAIN} ` });
  assertEquals((await inbox.mails()).length, 1);
});

Deno.test("another organization cannot see mail or decide about it, and is not a member there", async () => {
  const [one, two] = [await openInbox(database), await openInbox(database)];
  await send(one, { from: two.email, tests: SIGNED });
  const [mail] = await one.mails();
  assertEquals(mail.state, "waiting", "a member of another organization is a stranger");
  assertEquals(await one.page(two.books), { outcome: "unknown" });
  assertEquals(await one.change("accept", mail.id, two.books), { outcome: "unknown" });
  assertEquals(await two.change("accept", mail.id), { outcome: "gone" });
  assertEquals(await two.mails(), []);
  await send(one, { from: one.email, tests: SIGNED }, { to: `${one.address},${two.address}`, id: "both" });
  assertEquals([(await one.mails()).length, (await two.mails()).length], [2, 1]);
  await readMails(database);
  assertEquals([(await documents(one)).length, (await documents(two)).length], [1, 0]);
});

Deno.test("only owners and managers see the address and the list; a viewer's mail waits", async () => {
  const inbox = await openInbox(database);
  const [manager, member, viewer] = [
    await inbox.books.join("manager"),
    await inbox.books.join(),
    await inbox.books.join("viewer"),
  ];
  assertEquals((await inbox.page(manager)).outcome, "ok");
  for (const one of [member, viewer]) {
    assertEquals(await inbox.page(one), { outcome: "unknown" });
    assertEquals(await inbox.change("rotate", "", one), { outcome: "unknown" });
  }
  await send(inbox, { from: await emailOf(database, viewer), tests: SIGNED });
  await send(inbox, { from: await emailOf(database, member), tests: SIGNED });
  assertEquals((await inbox.mails()).map(({ state }) => state).toSorted(), ["accepted", "waiting"]);
  await readMails(database);
  const added = await documents(inbox);
  assertEquals(added.map(({ added_by }) => added_by), [await emailOf(database, member)]);
  assertEquals((await viewer.ok("list_documents")).documents, []);
});

Deno.test("mail of a person whose membership ended before it was read waits for somebody else", async () => {
  const inbox = await openInbox(database);
  const member = await inbox.books.join();
  await send(inbox, { from: await emailOf(database, member), tests: SIGNED });
  await database.query("delete from identity.memberships where user_id = $1", [member.userId]);
  assertEquals(await inboundStore(database).claim({ at: new Date(NOW) }), null);
  assertEquals((await readMails(database)).mails, 0);
  assertEquals((await inbox.mails()).map(({ state }) => state), ["waiting"]);
  // The same between the claim and the document.
  const other = await inbox.books.join();
  await send(inbox, { from: await emailOf(database, other), tests: SIGNED });
  const real = asDatabase(database);
  await readMails(database, {
    instead: {
      async call(name: string, args: object) {
        const answer = await real.call(name, args as never);
        if (name === "claim_inbound_mail") {
          await database.query("delete from identity.memberships where user_id = $1", [other.userId]);
        }
        return answer;
      },
    } as typeof real,
  });
  assertEquals((await inbox.mails()).map(({ state }) => state), ["waiting", "waiting"]);
  assertEquals(await documents(inbox), []);
});

Deno.test("a run killed at any point leaves the mail for the next run and stores nothing twice", async () => {
  const inbox = await openInbox(database);
  await inbox.books.ok("add_bill", POWER);
  const attachments = ["1", "2", "3"].map((number) => ({ name: `${number}.xml`, content: invoice(number) }));
  await send(inbox, { from: inbox.email, tests: SIGNED, attachments });
  const real = asDatabase(database);
  let minutes = 0;
  for (let most = 1; most < 20; most++) {
    let calls = 0;
    const now = new Date(Date.parse(NOW) + 10 * 60_000 * ++minutes).toISOString();
    await readMails(database, {
      now,
      instead: {
        call: (name: string, args: object) => {
          if (name === "record_job_run") return real.call(name, args as never);
          if (++calls > most) return Promise.reject(new Error("killed"));
          return real.call(name, args as never);
        },
      } as typeof real,
    });
    // A crash must not count against the mail in this test.
    await database.query("update app.inbound_mails set attempts = least(attempts, 1)");
    if ((await inbox.mails())[0].state === "read") break;
  }
  const [mail] = await inbox.mails();
  assertEquals(mail.state, "read");
  assertEquals((await documents(inbox)).length, 3);
  assertEquals(new Set(mail.documents).size, 3);
});

Deno.test("each run reads for a short time, and the next run continues with the next attachment", async () => {
  const inbox = await openInbox(database);
  const attachments = ["1", "2", "3"].map((number) => ({ name: `${number}.xml`, content: invoice(number) }));
  await send(inbox, { from: inbox.email, tests: SIGNED, attachments });
  const seen: number[] = [];
  for (let run = 0; run < 3; run++) {
    let ms = 0;
    await readMails(database, { elapsed: () => ms += 400 });
    seen.push((await documents(inbox)).length);
  }
  assertEquals(seen, [1, 2, 3]);
  assertEquals((await inbox.mails())[0].state, "read");
});

Deno.test("a mail that always crashes its reader fails after five runs, and other mail is read", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  const store = inboundStore(database);
  const at = (minutes: number) => new Date(Date.parse(NOW) + minutes * 60_000);
  for (let run = 0; run < 5; run++) assert(await store.claim({ at: at(3 * run) }));
  await send(inbox, { from: inbox.email, tests: SIGNED, attachments: [{ name: "b.xml", content: invoice("2") }] });
  assertEquals((await readMails(database, { now: at(20).toISOString() })).mails, 1);
  assertEquals((await inbox.mails()).map(({ state, refusals }) => [state, refusals]).toSorted(), [
    ["failed", ["gave_up"]],
    ["read", []],
  ]);
});

Deno.test("a claimed mail belongs to one run until its lease ends, and a late run changes nothing", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  const store = inboundStore(database);
  const first = await store.claim({ at: new Date(NOW) });
  assertEquals(await store.claim({ at: new Date(Date.parse(NOW) + 119_000) }), null);
  const second = await store.claim({ at: new Date(Date.parse(NOW) + 121_000) });
  assertEquals([first!.attempt, second!.attempt], [1, 2]);
  const settle = { outcome: "read" as const, partsDone: 1, documents: [], refusals: [], at: new Date(NOW) };
  await store.settle({ mail: first!, ...settle });
  assertEquals((await inbox.mails())[0].state, "accepted");
  await store.settle({ mail: second!, ...settle });
  assertEquals((await inbox.mails())[0].state, "read");
});

Deno.test("callers are authenticated as the mail service before the body is read", async () => {
  const inbox = await openInbox(database);
  const sent = posted(rawMail({ from: inbox.email, tests: SIGNED }), inbox.address);
  const { authorization: _, ...without } = authorized();
  for (const headers of [without, authorized("another-password-of-16"), { ...without, authorization: "Basic !" }]) {
    let isRead = false;
    const body = new ReadableStream({
      pull(controller) {
        isRead = true;
        controller.enqueue(new TextEncoder().encode(sent.body as string));
        controller.close();
      },
    }, { highWaterMark: 0 });
    const response = await door.request({ headers, body });
    assertEquals([response.status, isRead], [401, false]);
  }
  const rotating = openDoor(
    asDatabase(database),
    ["another-password-of-16", PASSWORD].map((password) => `postmark://postmark:${password}@${DOMAIN}`).join(),
  );
  assertEquals((await rotating.request(sent)).status, 200);
  const closed = openDoor(asDatabase(database), " ");
  assertEquals((await closed.request(sent)).status, 503);
  assertEquals((await door.request({ headers: authorized(), body: "{}" })).status, 400);
});

Deno.test("a mail that is too large or exceeds the room is acknowledged and dropped", async () => {
  const inbox = await openInbox(database, await openBooks(database, { plan: "pro" }));
  const large = new Uint8Array(8 * 1024 * 1024).fill(65);
  await send(inbox, { from: inbox.email, tests: SIGNED, attachments: [{ name: "a.txt", content: large }] });
  assertStringIncludes(door.lines.at(-1)!, `"outcome":"too_large"`);
  const huge = await door.request({ headers: authorized(), body: new Uint8Array(26 * 1024 * 1024) });
  assertEquals([huge.status, await huge.json()], [200, { status: "ok" }]);
  assertEquals(await inbox.mails(), []);
  await database.query(
    "insert into app.documents (organization_id, added_by, hash, name, type, size) select $1, $2, md5(n::text) || md5(n::text), 'x', 'image/png', 10485760 from generate_series(1, 50) as n",
    [inbox.books.organizationId, inbox.books.userId],
  );
  await send(inbox, { from: "a@stranger.example" });
  assertEquals(await inbox.mails(), []);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  assertEquals((await inbox.mails()).map(({ state, refusals }) => [state, refusals]), [["failed", ["document_quota"]]]);
});

Deno.test("at most fifty mails from strangers wait", async () => {
  const inbox = await openInbox(database);
  for (let n = 0; n < 51; n++) await send(inbox, { from: `a${n}@stranger.example`, attachments: [] });
  assertEquals((await inbox.mails()).length, 50);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  assertEquals((await inbox.mails()).filter(({ state }) => state === "accepted").length, 1);
});

Deno.test("waiting and read mail is deleted after 14 days, and its documents stay", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  await send(inbox, { from: "a@stranger.example" });
  await readMails(database);
  const purge = (at: string) => database.query("select jobs.purge_expired($1)", [at]);
  await purge("2026-12-04T11:59:00Z");
  assertEquals((await inbox.mails()).length, 2);
  await purge("2026-12-04T12:01:00Z");
  assertEquals([(await inbox.mails()).length, (await documents(inbox)).length], [0, 1]);
});

Deno.test("without a plan nothing can be changed, and mail waits for one", async () => {
  const inbox = await openInbox(database);
  await send(inbox, { from: inbox.email, tests: SIGNED });
  const plan = (to: string) =>
    database.query("update identity.organizations set plan = $2, trial_ends_at = null where id = $1", [
      inbox.books.organizationId,
      to,
    ]);
  await database.query("select billing.enable_plans()").catch(() => {});
  await plan("free");
  const [{ has } = { has: true }] = await database.query<{ has: boolean }>(
    "select identity.organization_has_feature($1, 'ai:connector', $2) as has",
    [inbox.books.organizationId, NOW],
  );
  if (!has) {
    assertEquals((await inbox.change("rotate")).outcome, "no_changes");
    assertEquals((await readMails(database)).mails, 0);
    assertEquals((await inbox.mails())[0].state, "accepted");
  }
  await plan("team");
  assertEquals((await readMails(database)).mails, 1);
});

Deno.test("the log names no address and no subject", () => {
  for (const line of door.lines) assertFalse(/@|Fwd/.test(line), line);
});
