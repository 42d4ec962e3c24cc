/** Limits of forwarded mail: between senders, organizations and the mail service. */
import { assertEquals } from "@std/assert";
import { openDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { type Inbox, openDoor, openInbox, posted, rawMail, SIGNED, type TestMail } from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
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
