/** Limits on forwarded mail: between senders, organizations and the mail service. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import {
  inboundStore,
  type Inbox,
  NOW,
  openDoor,
  openInbox,
  posted,
  rawMail,
  SIGNED,
  type TestMail,
} from "./harness.ts";

const database = await sharedDatabase();
Deno.test.beforeEach(() => database.query("delete from app.inbound_mails").then(() => {}));
const door = openDoor(asDatabase(database));

const send = async (inbox: Inbox, mail: TestMail) =>
  (await door.request(posted(rawMail({ attachments: [], ...mail }), inbox.address))).status;

Deno.test("a sender accepted with proof still needs it after one unproven mail was accepted", async () => {
  const inbox = await openInbox(database);
  const from = "billing@power.example";
  const states = async () => (await inbox.mails()).map(({ state }) => state).toSorted();
  const accept = async () =>
    await inbox.change("accept", (await inbox.mails()).find(({ state }) => state === "waiting")!.id);
  await send(inbox, { from, tests: SIGNED });
  await accept();
  await send(inbox, { from });
  await accept();
  assertEquals(await states(), ["accepted", "accepted"]);
  await send(inbox, { from });
  assertEquals(await states(), ["accepted", "accepted", "waiting"]);
  // A blocked sender has no proof to keep.
  await inbox.change("block", (await inbox.mails()).find(({ state }) => state === "waiting")!.id);
  await inbox.change("forget", from);
  await send(inbox, { from });
  await accept();
  await send(inbox, { from });
  assertEquals(await states(), Array(4).fill("accepted"));
});

Deno.test("at most a hundred mails of an organization wait to be read, and the list names the others", async () => {
  const [full, other] = [await openInbox(database), await openInbox(database)];
  for (let n = 0; n < 101; n++) await send(full, { from: full.email, tests: SIGNED });
  const states = await database.query(
    "select state, refusals, count(*)::int as mails from app.inbound_mails group by 1, 2 order by 1",
  );
  assertEquals(states, [
    { state: "accepted", refusals: [], mails: 100 },
    { state: "failed", refusals: ["mail_quota"], mails: 1 },
  ]);
  assertEquals(
    await database.query("select from app.inbound_mails where state = 'failed' and content is not null"),
    [],
  );
  await send(other, { from: other.email, tests: SIGNED });
  assertEquals((await other.mails()).map(({ state }) => state), ["accepted"]);
});

Deno.test("organizations take turns, however much mail one of them has", async () => {
  const [one, two, three] = [await openInbox(database), await openInbox(database), await openInbox(database)];
  const store = inboundStore(database);
  const after = (n: number) => new Date(Date.parse(NOW) + n * 1000);
  for (const inbox of [one, one, one, one, two, two, three]) await send(inbox, { from: inbox.email, tests: SIGNED });
  const turns: string[] = [];
  for (let n = 0; n < 7; n++) turns.push((await store.claim({ at: after(n) }))!.organization_id);
  assertEquals(await store.claim({ at: after(8) }), null);
  const [a, b, c] = [one, two, three].map(({ books }) => books.organizationId);
  assertEquals(turns.slice(0, 3).toSorted(), [a, b, c].toSorted());
  assertEquals(turns.slice(3, 5).toSorted(), [a, b].toSorted());
  assertEquals(turns.slice(5), [a, a]);
});

Deno.test("a run fetches nothing while the organization's mail waits to be read", async () => {
  const inbox = await openInbox(database);
  const store = inboundStore(database);
  const { token } = await inbox.page();
  await store.keep({ tokens: [token], providerId: "resend:1", at: new Date("2026-11-01T00:00:00Z") });
  await send(inbox, { from: inbox.email, tests: SIGNED });
  const claimed = [await store.claim({ at: new Date(NOW) }), await store.claim({ at: new Date(NOW) })];
  assertEquals(claimed.map((mail) => mail!.content === null), [false, true]);
});
