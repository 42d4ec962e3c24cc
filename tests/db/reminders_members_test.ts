/** Recipients besides the owner: a bill's assignee, and members who want all mails of an organization. */
import { assertEquals } from "@std/assert";
import { addMember, type Books, openBooks } from "../_support/books.ts";
import { addBill, at, database, type Digest, fresh, noticed, run, said } from "./reminder_run.ts";

const FAR = "2027-06-20";
const addressOf = (books: Books) => `${books.userId}@example.com`;

/** The contents of a run's digests, by recipient. */
const saidTo = (digests: Digest[]) =>
  Object.fromEntries(digests.map((digest) => [digest.recipient_id, said([digest])[0]]));
const noticedTo = (digests: Digest[]) =>
  Object.fromEntries(digests.flatMap((digest) => noticed([digest]).map((line) => [digest.recipient_id, line])));

const choose = (books: Books, mails: "mine" | "all" | "none") =>
  books.ok("update_settings", { reminders: { my_mails: mails } });

/** An owner and a member of the same books. */
async function couple(day = "2026-11-10"): Promise<{ anna: Books; ben: Books }> {
  const anna = await fresh({ day });
  return { anna, ben: await anna.join() };
}

Deno.test("an assigned bill reminds its assignee and the owner once each; other bills remind the owner", async () => {
  const { anna, ben } = await couple();
  await addBill(anna, "Rent", "2026-11-22", { assignee: addressOf(ben) });
  await addBill(anna, "Water", "2026-11-22");
  const digests = await run(at("2026-11-20"));
  assertEquals(saidTo(digests), { [anna.userId]: "Rent 2, Water 2", [ben.userId]: "Rent 2" });
  const assignees = (digest: Digest) =>
    digest.content.organizations.flatMap(({ bills }) => bills.map((bill) => (bill as { assignee?: string }).assignee));
  const to = (books: Books) => digests.find(({ recipient_id }) => recipient_id === books.userId)!;
  assertEquals([assignees(to(anna)), assignees(to(ben))], [[addressOf(ben), null], [null]]);
  assertEquals(await run(at("2026-11-20", "08:10")), []);
  assertEquals(await run(at("2026-11-21")), []);
  // The owner's log has one row per bill and due date; other recipients are in the notice log.
  assertEquals(
    await database.query(
      `select e.name, (select count(*)::int from jobs.reminder_log as l where l.expense_id = e.id) as reminders,
         array(select l.kind from jobs.notice_log as l where l.expense_id = e.id and l.recipient_id = $1) as notices
       from app.expenses as e order by e.name`,
      [ben.userId],
    ),
    [{ name: "Rent", reminders: 1, notices: ["reminder"] }, { name: "Water", reminders: 1, notices: [] }],
  );
});

Deno.test("an assignee gets later reminders, snoozed dates, nudges and notices", async () => {
  const { anna, ben } = await couple();
  const rent = await addBill(anna, "Rent", "2026-11-22", {
    assignee: addressOf(ben),
    remind_days_before: 3,
    remind_again: [0],
    frequency: "once",
  });
  await addBill(anna, "Zoom", FAR, { assignee: addressOf(ben), trial_ends_on: "2026-12-15" });
  const told: Record<string, unknown> = {};
  for (let day = 18; day <= 29; day++) {
    const date = `2026-11-${day}`;
    const digests = await run(at(date));
    if (digests.length > 0) told[day] = saidTo(digests)[ben.userId] ?? "nothing to ben";
    assertEquals(Object.values(saidTo(digests)).length, digests.length > 0 ? 2 : 0, "both are told the same day");
    assertEquals(await run(at(date, "08:10")), []);
  }
  assertEquals(told, { 19: "Rent 3", 22: "Rent 0", 25: "Rent -3", 29: "Rent -7" });

  anna.goTo("2026-11-29");
  const snooze = { action: "snooze", due_on: "2026-11-22", snooze_until: "2026-12-02" };
  await anna.ok("update_bill", { bill_id: rent, occurrence: snooze });
  assertEquals(await run(at("2026-12-01")), []);
  assertEquals(saidTo(await run(at("2026-12-02"))), { [anna.userId]: "Rent -10", [ben.userId]: "Rent -10" });
  assertEquals(await run(at("2026-12-03")), []);
  assertEquals(noticedTo(await run(at("2026-12-08"))), {
    [anna.userId]: "trial Zoom 7",
    [ben.userId]: "trial Zoom 7",
  });
});

Deno.test("a snooze until the due date adds one reminder, for members and the owner", async () => {
  const { anna, ben } = await couple();
  const rent = await addBill(anna, "Rent", "2026-11-22", { assignee: addressOf(ben) });
  assertEquals((await run(at("2026-11-20"))).length, 2);
  anna.goTo("2026-11-20");
  const snooze = { action: "snooze", due_on: "2026-11-22", snooze_until: "2026-11-22" };
  await anna.ok("update_bill", { bill_id: rent, occurrence: snooze });
  assertEquals(saidTo(await run(at("2026-11-22"))), { [anna.userId]: "Rent 0", [ben.userId]: "Rent 0" });
  assertEquals(await run(at("2026-11-22", "08:10")), []);
});

Deno.test("a member who chooses all mails gets this organization's bills; others' choices stay", async () => {
  const { anna, ben } = await couple();
  const cleo = await anna.join();
  await addBill(anna, "Rent", "2026-11-22");
  await choose(ben, "all");
  assertEquals(saidTo(await run(at("2026-11-20"))), { [anna.userId]: "Rent 2", [ben.userId]: "Rent 2" });
  await choose(ben, "none");
  await choose(cleo, "all");
  await addBill(anna, "Water", "2026-11-24");
  // Recipients who already get a mail also get the overdue bills.
  assertEquals(saidTo(await run(at("2026-11-21"))), { [anna.userId]: "Water 3", [cleo.userId]: "Rent 1, Water 3" });
});

Deno.test("an owner without mails does not stop the assignee's mails mails", async () => {
  const { anna, ben } = await couple();
  await addBill(anna, "Rent", "2026-11-22", { assignee: "me" });
  await addBill(anna, "Water", "2026-11-22", { assignee: addressOf(ben) });
  await choose(anna, "none");
  assertEquals(saidTo(await run(at("2026-11-20"))), { [ben.userId]: "Water 2" });
  await choose(anna, "mine");
  assertEquals(saidTo(await run(at("2026-11-21"))), { [anna.userId]: "Rent 1, Water 1" });
});

const ENDINGS: Record<string, string> = {
  "left the organization": "delete from identity.memberships where user_id = $1",
  "was suspended": "update auth.users set banned_until = '2026-11-25' where id = $1",
  "wants no mail": "update identity.memberships set mails = 'none' where user_id = $1",
  "is no longer assigned a bill": "update app.expenses set assignee_id = null where assignee_id = $1",
};
for (const [what, query] of Object.entries(ENDINGS)) {
  Deno.test(`a member who ${what} between collecting and sending gets no mail; the owner does`, async () => {
    const { anna, ben } = await couple();
    await addBill(anna, "Rent", "2026-11-22", { assignee: addressOf(ben) });
    assertEquals(
      await database.asService("collect_reminders", { at: at("2026-11-20") }),
      { digests: 2, reminders: 2, given_up: 0, next: null },
    );
    await database.query(query, [ben.userId]);
    assertEquals(saidTo(await run(at("2026-11-20"))), { [anna.userId]: "Rent 2" });
    assertEquals(await database.query("select from jobs.notice_log where sent_at is not null"), []);
  });
}

type Batch = { id: string; lease_token: string; digests: Digest[] };

Deno.test("a recipient who left gets no second attempt", async () => {
  const { anna, ben } = await couple();
  await addBill(anna, "Rent", "2026-11-22", { assignee: addressOf(ben) });
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  const claim = (time: string) =>
    database.asService<Batch>("claim_reminders", { size: 10, at: at("2026-11-20", time) });
  assertEquals((await claim("08:00")).digests.length, 2);
  await database.query("delete from identity.memberships where user_id = $1", [ben.userId]);
  assertEquals((await claim("08:05")).digests.map(({ recipient_id }) => recipient_id), [anna.userId]);
  assertEquals(
    await database.query("select status, content from jobs.reminder_digests where recipient_id = $1", [ben.userId]),
    [{ status: "unknown", content: null }],
  );
});

Deno.test("a bill returns to the owner when its assignee leaves", async () => {
  const { anna, ben } = await couple();
  const rent = await addBill(anna, "Rent", "2026-11-22", { assignee: addressOf(ben) });
  assertEquals((await anna.ok("list_bills", { bill_id: rent })).bills[0].assignee, addressOf(ben));
  await database.query("delete from identity.memberships where user_id = $1", [ben.userId]);
  assertEquals((await anna.ok("list_bills", { bill_id: rent })).bills[0].assignee, undefined);
  const digests = await run(at("2026-11-20"));
  assertEquals(saidTo(digests), { [anna.userId]: "Rent 2" });
  assertEquals(JSON.stringify(digests).includes(ben.userId), false);
});

Deno.test("one recipient's refused address delays nobody and repeats no other reminder", async () => {
  const { anna, ben } = await couple();
  const others = [ben];
  for (let n = 0; n < 4; n++) others.push(await anna.join());
  for (const other of others) await choose(other, "all");
  await addBill(anna, "Rent", "2026-11-22");
  await database.asService("collect_reminders", { at: at("2026-11-20") });
  const batch = await database.asService<Batch>("claim_reminders", { size: 100, at: at("2026-11-20") });
  assertEquals(batch.digests.length, 6);
  const results = batch.digests.map(({ id, recipient_id }) =>
    recipient_id === ben.userId ? { id, outcome: "dead", code: "mail_refused", refused: true } : { id, outcome: "sent" }
  );
  assertEquals(
    await database.asService("settle_reminders", {
      batch_id: batch.id,
      lease_token: batch.lease_token,
      results,
      is_last: true,
      retry_at: at("2026-11-20", "09:00"),
      at: at("2026-11-20"),
    }),
    { outcome: "settled", digests: 5, reminders: 5 },
  );
  assertEquals(await run(at("2026-11-21")), []);
  await database.query("update identity.profiles set refused_email = null, refused_at = null");
  assertEquals(saidTo(await run(at("2026-11-21"))), { [ben.userId]: "Rent 1" });
});

Deno.test("every recipient of one bill is collected once, across pages", async () => {
  const { anna, ben } = await couple();
  const cleo = await anna.join();
  await choose(cleo, "all");
  for (const name of ["Rent", "Water", "Power"]) {
    await addBill(anna, name, "2026-11-22", { assignee: addressOf(ben) });
  }
  let after: unknown = null;
  let digests = 0;
  do {
    const page = await database.asService<{ digests: number; next: unknown }>("collect_reminders", {
      at: at("2026-11-20"),
      after,
      size: 1,
    });
    digests += page.digests;
    after = page.next;
  } while (after !== null);
  assertEquals(digests, 3);
  const all = "Power 2, Rent 2, Water 2";
  assertEquals(saidTo(await run(at("2026-11-20"))), { [anna.userId]: all, [ben.userId]: all, [cleo.userId]: all });
});

Deno.test("a member of two organizations gets one mail with their bills of both", async () => {
  const { anna, ben } = await couple();
  const own = await openBooks(database, { day: "2026-11-10" });
  await database.query("update identity.organizations set name = 'Studio' where id = $1", [own.organizationId]);
  await addMember(database, anna.organizationId, own.userId, "member");
  await addBill(anna, "Rent", "2026-11-22", { assignee: addressOf(own) });
  await addBill(anna, "Water", "2026-11-22", { assignee: addressOf(ben) });
  await addBill(own, "Desk", "2026-11-22");
  const [digest] = (await run(at("2026-11-20"))).filter(({ recipient_id }) => recipient_id === own.userId);
  assertEquals(
    digest!.content.organizations.map(({ name, bills }) => [name, bills.map((bill) => bill.name)]),
    [["Household", ["Rent"]], ["Studio", ["Desk"]]],
  );
});

Deno.test("the service mails no members of other organizations", async () => {
  const { anna } = await couple();
  const other = await openBooks(database, { day: "2026-11-10" });
  const stranger = await other.join();
  await choose(stranger, "all");
  const rent = await addBill(anna, "Rent", "2026-11-22");
  // No tool can produce this state: the membership must be in the bill's own organization.
  await database.query("update app.expenses set assignee_id = $1 where id = $2", [stranger.userId, rent]);
  const digests = await run(at("2026-11-20"));
  assertEquals(saidTo(digests), { [anna.userId]: "Rent 2" });
  assertEquals(JSON.stringify(digests).includes(stranger.userId), false);
  assertEquals((await anna.ok("list_bills", {})).bills[0].assignee, undefined);
  await addBill(other, "Desk", "2026-11-23");
  assertEquals(saidTo(await run(at("2026-11-21"))), { [other.userId]: "Desk 2", [stranger.userId]: "Desk 2" });

  const { error } = await anna.call("add_bill", {
    name: "Gas",
    amount: "10",
    first_due: "2026-11-22",
    assignee: addressOf(stranger),
  });
  assertEquals([error.code, error.field], ["not_found", "assignee"]);
});
