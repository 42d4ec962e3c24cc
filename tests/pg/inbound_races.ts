/** Mail on real PostgreSQL: concurrent deliveries, reads, decisions and address changes. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { asDatabase } from "../functions/cron-reminders/harness.ts";
import {
  inboundStore,
  invoice,
  NOW,
  openDoor,
  openInbox,
  posted,
  rawMail,
  readMails,
  SIGNED,
} from "../functions/inbound-mail/harness.ts";

const database = await sharedDatabase();
const door = openDoor(asDatabase(database));
const EIGHT = Array.from({ length: 8 }, (_, n) => n);

Deno.test("a mail delivered eight times at once is stored once, and read once by eight runs", async () => {
  const inbox = await openInbox(database);
  const sent = posted(rawMail({ from: inbox.email, tests: SIGNED }), inbox.address, "same");
  const answers = await Promise.all(EIGHT.map(() => door.request(sent)));
  assertEquals(answers.map(({ status }) => status), EIGHT.map(() => 200));
  assertEquals((await inbox.mails()).length, 1);
  await Promise.all(EIGHT.map(() => readMails(database)));
  assertEquals((await inbox.mails()).map(({ state, documents }) => [state, documents.length]), [["read", 1]]);
  assertEquals((await inbox.books.ok("list_documents")).documents.length, 1);
});

Deno.test("eight runs read eight mails, each once", async () => {
  const inbox = await openInbox(database);
  for (const n of EIGHT) {
    const attachments = [{ name: "a.xml", content: invoice(String(n)) }];
    await door.request(posted(rawMail({ from: inbox.email, tests: SIGNED, attachments }), inbox.address));
  }
  const store = inboundStore(database);
  const claimed = await Promise.all(EIGHT.map(() => store.claim({ at: new Date(NOW) })));
  assertEquals(new Set(claimed.map((mail) => mail?.id)).size, 8);
  const later = new Date(Date.parse(NOW) + 3 * 60_000).toISOString();
  await Promise.all(EIGHT.map(() => readMails(database, { now: later })));
  // A run that waited too long for the lock leaves its mail to a later run.
  await readMails(database, { now: new Date(Date.parse(later) + 60 * 60_000).toISOString() });
  assertEquals((await inbox.mails()).map(({ state }) => state), EIGHT.map(() => "read"));
  assertEquals((await inbox.books.ok("list_documents")).documents.length, 8);
});

Deno.test("a run skips the lock of an organization that is receiving mail, and others get their turns", async () => {
  await database.query("delete from app.inbound_mails");
  const [busy, other] = [await openInbox(database), await openInbox(database)];
  for (const inbox of [busy, busy, busy, other]) {
    await door.request(posted(rawMail({ from: inbox.email, tests: SIGNED }), inbox.address));
  }
  const store = inboundStore(database);
  const claimed = await database.transaction(async (session) => {
    await session.query("select from app.inbound_addresses where organization_id = $1 for update", [
      busy.books.organizationId,
    ]);
    const claims: (string | undefined)[] = [];
    for (let n = 0; n < 5; n++) claims.push((await store.claim({ at: new Date(NOW) }))?.organization_id);
    return claims;
  });
  const [a, b] = [busy.books.organizationId, other.books.organizationId];
  assertEquals(claimed.toSorted(), [a, a, a, b, undefined].toSorted());
});

Deno.test("large mails at once do not exceed the room for documents", async () => {
  const inbox = await openInbox(database);
  await database.query(
    "insert into app.documents (organization_id, added_by, hash, name, type, size) select $1, $2, md5(n::text) || md5(n::text), 'x', 'image/png', 10485760 from generate_series(1, 199) as n",
    [inbox.books.organizationId, inbox.books.userId],
  );
  const content = new Uint8Array(6 * 1024 * 1024).fill(65);
  const large = () => rawMail({ from: inbox.email, tests: SIGNED, attachments: [{ name: "a.txt", content }] });
  await Promise.all(EIGHT.slice(0, 4).map(() => door.request(posted(large(), inbox.address))));
  assertEquals((await inbox.mails()).map(({ state }) => state).toSorted(), ["accepted", "failed", "failed", "failed"]);
});

Deno.test("either a concurrent accept or block wins, and two concurrent replacements leave one address", async () => {
  const inbox = await openInbox(database);
  await door.request(posted(rawMail({ from: "a@power.example" }), inbox.address));
  const [mail] = await inbox.mails();
  const outcomes = await Promise.all(
    EIGHT.map((n) => inbox.change(n % 2 ? "accept" : "block", mail.id).then(({ outcome }) => outcome)),
  );
  assertEquals(outcomes.filter((outcome) => outcome === "changed").length, 1);
  await Promise.all(EIGHT.map(() => inbox.change("rotate")));
  const [{ addresses }] = await database.query<{ addresses: number }>(
    "select count(*)::int as addresses from app.inbound_addresses where organization_id = $1",
    [inbox.books.organizationId],
  ) as [{ addresses: number }];
  assertEquals(addresses, 1);
});
