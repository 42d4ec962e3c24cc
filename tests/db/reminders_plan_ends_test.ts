/** The end of a plan: announced in the week before, mailed once on the day with later bills, and its recipients. */
import { assertEquals } from "@std/assert";
import type { PlanEnd } from "../../shared/reminders/content.ts";
import type { Books } from "../_support/books.ts";
import { deliver, PLANS } from "../_support/billing.ts";
import { addBill, at, collect, database, type Digest, fresh, run } from "./reminder_run.ts";

/** Books with the plan that `set` sets; bills due on the 17th and 30th of November. */
async function booksWith(set: string): Promise<Books> {
  const books = await fresh();
  await database.query(`update identity.organizations set ${set}`);
  await addBill(books, "VAT", "2026-11-17", { remind_days_before: 4, remind_again: [1] });
  await addBill(books, "Rent", "2026-11-30");
  return books;
}
const TRIAL = "plan = 'free', trial_ends_at = '2026-11-15T14:00Z'";

const endsIn = (digests: Digest[]): (PlanEnd | null | undefined)[] =>
  digests.flatMap(({ content }) => content.organizations.map((one) => (one as { plan_end?: PlanEnd | null }).plan_end));

/** The content of each day's mail: whether it is the day itself, the ending features, and bills due later. */
async function told(from: number, to: number, time?: string): Promise<Record<number, string[]>> {
  const days: Record<number, string[]> = {};
  for (let day = from; day <= to; day++) {
    const ends = endsIn(await run(at(`2026-11-${day}`, time)));
    if (ends.length > 0) {
      days[day] = ends.map((end) =>
        !end
          ? ""
          : `${end.reason} ${end.days} ${end.is_day} ${
            end.due.bills.map(({ name, due_on }) => `${name} ${due_on.slice(8)}`)
          }`
      );
    }
  }
  return days;
}

Deno.test("a trial's last digest names its end, and a mail on the day lists later bills", async () => {
  await booksWith(TRIAL);
  assertEquals(await told(10, 30), {
    13: ["trial 2 false VAT 17,Rent 30"],
    15: ["trial 0 true VAT 17,Rent 30"],
  });
});

Deno.test("a plan with a failed payment ends with the same mails, seven days after the failure", async () => {
  await booksWith("plan = 'pro', plan_status = 'past_due', past_due_since = '2026-11-09T06:00Z', trial_ends_at = null");
  const days = await told(10, 30);
  assertEquals(days, { 13: ["past_due 3 false VAT 17,Rent 30"], 16: ["past_due 0 true VAT 17,Rent 30"] });
});

Deno.test("a canceled subscription is mailed once at the next run, and again only after it was resumed", async () => {
  const { organizationId } = await booksWith("plan = 'free', trial_ends_at = null");
  await database.query(
    "insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'pro') on conflict do nothing",
    [PLANS.pro],
  );
  const say = (type: string, day: number) =>
    deliver(database, `subscription.${type}`, {
      organizationId,
      at: new Date(at(`2026-11-${String(day).padStart(2, "0")}`, "12:00")),
    });
  await say("activated", 2);
  assertEquals(await told(10, 13), { 13: [""] });
  await say("cancelled", 13);
  await say("completed", 14);
  assertEquals(await told(14, 18), { 14: ["canceled -1 true VAT 17,Rent 30"] });
  await say("resumed", 18);
  await say("cancelled", 18);
  assertEquals(await told(19, 25), { 19: ["canceled -1 true Rent 30,VAT 17"] });
});

Deno.test("a plan resumed before its end or the mail causes no notice", async () => {
  await booksWith(TRIAL);
  await database.query("update identity.organizations set plan = 'pro'");
  assertEquals(await told(10, 19), { 13: [""], 16: [""] });
  // Paid after the digest was created and before it was sent.
  await booksWith(TRIAL);
  await run(at("2026-11-13"));
  await collect(at("2026-11-15"));
  await database.query("update identity.organizations set plan = 'team'");
  assertEquals(endsIn(await run(at("2026-11-15", "08:05"))), []);
});

Deno.test("when provider amounts end with the Team trial, only organizations with links get a mail", async () => {
  const books = await booksWith("plan = 'pro', trial_ends_at = '2026-11-22T14:00Z'");
  assertEquals((await told(18, 22))[22], undefined);
  const [bill] = await database.query<{ id: string }>("select id from app.expenses where name = 'Rent'");
  await database.query(
    `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
     values ($1, $2, 'github', 'GitHub', 'active')`,
    [books.organizationId, bill!.id],
  );
  const [end] = endsIn(await run(at("2026-11-23")));
  assertEquals([end?.stops, end?.has_ended], [["amounts"], true]);
});

Deno.test("only members with mails or a calendar get a mail about a plan's end", async () => {
  const books = await booksWith(TRIAL);
  const [idle, reader, silent] = [
    (await books.join()).userId,
    (await books.join()).userId,
    (await books.join()).userId,
  ];
  for (const userId of [reader, silent]) {
    await database.query(
      `insert into identity.calendar_feeds (organization_id, user_id, token_hash, created_at)
       values ($1, $2::uuid, sha256(convert_to($2::uuid::text, 'utf8')), '2026-11-01')`,
      [books.organizationId, userId],
    );
  }
  await database.query("update identity.memberships set mails = 'none' where user_id = $1", [silent]);
  const digests = await run(at("2026-11-15"));
  const said = Object.fromEntries(digests.map((digest) => [digest.recipient_id, endsIn([digest])[0]]));
  assertEquals(said[idle!], undefined);
  assertEquals(said[silent!], undefined);
  assertEquals([said[reader!]?.stops, said[reader!]?.due.bills], [["reminders", "calendar", "assistants"], []]);
  assertEquals([said[reader!]?.may_change, said[books.userId]?.may_change], [false, true]);
});

Deno.test("after the end the owner still sees due bills in the books", async () => {
  const books = await booksWith(TRIAL);
  const { userId: next } = await books.join();
  await database.query("update identity.memberships set role = 'manager' where user_id = $1", [books.userId]);
  await database.query("update identity.memberships set role = 'owner' where user_id = $1", [next]);
  await database.query("update identity.organizations set owner_id = $1", [next]);
  const read = await database.asService<{ bills: { data: { bills: { name: string }[] } } }>("read_books", {
    user_id: next,
    organization_id: books.organizationId,
    month_on: null,
    searched: null,
    cursor: null,
    paid: null,
    at: at("2026-11-20"),
  });
  const text = JSON.stringify(read.bills);
  assertEquals([text.includes("VAT"), text.includes("Rent")], [true, true]);
});
