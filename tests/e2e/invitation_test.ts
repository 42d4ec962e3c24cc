/**
 * A membership from beginning to end: a person is invited by mail, signs up, accepts, connects an app and works. After
 * the removal, the next call is refused and the pending mail isn't sent.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { createPages, over, signIn } from "../functions/auth-callback/harness.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { connectClient, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

const ANNA = "anna@example.com";
const BEN = "ben@example.com";
const START = new Date("2026-10-06T09:00:00Z");

Deno.test("an invited member works, is removed, and loses all access", async () => {
  await database.reset();
  let now = START;
  const clock = () => now;
  const anna = await newMember(database, { email: ANNA, organization: "Garden Street", clock });
  const pages = createPages(over(database), { rateLimits: "off" });
  pages.clock.now = now;
  const { organizationId } = anna;
  const path = `/organizations/${organizationId}/members`;

  // The owner invites Ben.
  pages.provider.users.set(ANNA, { id: anna.userId, email: ANNA });
  const { browser: owner } = await signIn(pages, ANNA);
  const open = async (where: string) => await (await owner.get(where)).text();
  await owner.submit(await open(path), 'value="invite"', { address: BEN, role: "member" });
  const [link] = /\/invitation\?t=\S+/.exec(pages.mails[0]!.text)!;

  // Signs up and accepts.
  const { id } = pages.provider.user(BEN);
  await database.query("insert into auth.users (id, email) values ($1, $2)", [id, BEN]);
  const browser = pages.browser();
  const joined = await browser.submit(await (await browser.get(link)).text(), 'name="country"', {
    country: "DE",
    timezone: "Europe/Berlin",
  });
  assertEquals(joined.headers.get("location"), `/books?organization=${organizationId}&news=joined`);

  // Works with the same books.
  const ben = await connectClient(database, { userId: id, email: BEN, organizationId }, clock);
  await ben.ok("log_expenses", { items: [{ amount: "14.50", name: "Lunch" }] });
  await anna.ok("add_bill", { name: "Rent", amount: "1310", first_due: "2026-10-09", assignee: "ben" });
  assertEquals((await anna.ok("list_expenses")).total_count, 1);

  // Their mail is created while the mail service is down, so it waits for a second attempt.
  const mail = mailService();
  const down = createJob({
    database: asDatabase(database),
    fetch: withRates(() => Promise.resolve(new Response(null, { status: 503 }))),
    now: clock,
  });
  await down.run();
  const waiting = async () =>
    (await database.query<{ status: string }>("select status from jobs.reminder_digests where recipient_id = $1", [id]))
      .map(({ status }) => status);
  assertEquals(await waiting(), ["pending"]);

  // Removed.
  const removing = await open(`${path}/remove?member=${id}`);
  assertStringIncludes(removing, "One bill is assigned to them");
  const removed = await owner.submit(removing, "danger");
  assertEquals(removed.headers.get("location"), `${path}?done=removed`);
  const { text } = await ben.call("list_expenses");
  assert(!text.includes("Lunch"), text);
  assertEquals((await database.query("select from oauth.grants where user_id = $1", [id])).length, 0);
  assertEquals((await browser.get(path)).status, 404);
  assertEquals((await browser.get(link)).status, 403, "the old link brings nobody back");

  // The owner's mail goes out, but theirs doesn't.
  now = new Date(START.getTime() + 3600_000);
  await createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: clock }).run();
  assertEquals(mail.delivered.map(({ to }) => to), [ANNA]);

  // Their records stay, and the bill has no assignee.
  const { data } = await anna.ok("list_expenses");
  assertEquals(data.rows.map(({ name }: { name: string }) => name), ["Lunch"]);
  await anna.fails("add_bill", { name: "Water", amount: "5", first_due: "2026-10-09", assignee: "ben" });
});
