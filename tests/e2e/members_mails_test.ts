/** Two people share books and one pays the rent: their requests, and every mail that they get. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { signUnsubscribing } from "../../shared/reminders/unsubscribe_token.ts";
import { sharedDatabase } from "../_support/database.ts";
import { createPages, over } from "../functions/auth-callback/harness.ts";
import { asDatabase, createJob, mailService, type SentMail, withRates } from "../functions/cron-reminders/harness.ts";
import { joinMember, type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

const ANNA = "anna@example.com";
const BEN = "ben@example.com";

/** Anna owns the household, and Ben is a member. Days pass, and the job runs on each. */
async function household() {
  await database.reset();
  let day = "2026-10-06";
  const clock = () => new Date(`${day}T09:00:00Z`);
  const anna = await newMember(database, { email: ANNA, organization: "Garden Street", plan: "pro", clock });
  const ben = await joinMember(database, { email: BEN, organizationId: anna.organizationId, clock });
  const mail = mailService();
  const job = createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: clock });
  return {
    anna,
    ben,
    mail,
    goTo: (to: string) => void (day = to),
    /** The mails of a day by address; a second run sends none. */
    async mailsOf(to: string): Promise<Record<string, SentMail>> {
      day = to;
      const before = mail.delivered.length;
      await job.run();
      const sent = mail.delivered.slice(before);
      await job.run();
      assertEquals(mail.delivered.length, before + sent.length, "a second run sends nothing");
      assertEquals(new Set(sent.map((one) => one.to)).size, sent.length, "one mail a person");
      return Object.fromEntries(sent.map((one) => [one.to, one]));
    },
  };
}

/** A mail without the links at the bottom. */
const read = ({ text }: SentMail) => text.split("\nReminder settings:")[0]!.replaceAll(/https:\/\/\S+/g, "<link>");

Deno.test("assigning the rent to Ben reminds him and shows Anna the assignee", async () => {
  const { anna, ben, mailsOf, goTo } = await household();
  const { data: { bill } } = await anna.ok("add_bill", {
    name: "Rent",
    amount: "1310",
    first_due: "2026-11-01",
    assignee: "ben",
  });
  assertEquals(bill.assignee, BEN);
  await anna.ok("add_bill", { name: "Water", amount: "30", first_due: "2026-11-01" });

  const mails = await mailsOf("2026-10-29");
  assertEquals(Object.keys(mails).toSorted(), [ANNA, BEN]);
  assertEquals(
    [mails[ANNA]!.subject, mails[BEN]!.subject],
    ["2 bills due this week", "“Rent” is due on Sun, 1 Nov"],
  );
  assertEquals(
    read(mails[BEN]!),
    `Expenses

“Rent” is due on 1 November.

Due:
  Rent  Sunday, 1 November  in 3 days  €1,310.00

Tell your assistant: “Mark ‘Rent’ paid” or “Snooze ‘Rent’ until Monday.”

No assistant at hand? Open the books: <link>

-- 

You’re getting this email because bills in “Garden Street” are assigned to you. We send at most one a day.`,
  );
  assertStringIncludes(mails[ANNA]!.text, "€1,310.00\n    assigned to ben@example.com");
  assertStringIncludes(mails[ANNA]!.html, "assigned to ben@example.com");
  assertMatch(mails[ANNA]!.text, /because you own “Garden Street” and reminders are on/);

  // Nobody has paid, so both get another mail. After Ben pays, neither gets one.
  assertEquals(await mailsOf("2026-11-02"), {});
  const late = await mailsOf("2026-11-04");
  assertMatch(late[BEN]!.subject, /^“Rent” has been overdue since /);
  assertEquals(late[ANNA]!.subject, "2 bills overdue");
  goTo("2026-11-05");
  await ben.ok("mark_bill_paid", { bill_name: "rent" });
  assertEquals(Object.keys(await mailsOf("2026-11-08")), [ANNA]);
});

Deno.test("reassigning the rent moves its reminders, and an undo moves them back", async () => {
  const { anna, ben, mailsOf, goTo } = await household();
  const { data: { bill } } = await anna.ok("add_bill", { name: "Rent", amount: "1310", first_due: "2026-11-01" });
  goTo("2026-10-10");
  const { data, change_id } = await ben.ok("update_bill", { bill_id: bill.id, set: { assignee: "me" } });
  assertEquals([data.bill.assignee, data.before.assignee], [BEN, undefined]);
  const { data: { recent_changes: [latest] } } = await ben.ok("get_context", { include: ["recent_changes"] });
  assertEquals(latest.summary, "Changed Rent: assignee");
  const { data: undo } = await anna.ok("undo_change", { change_id });
  assertEquals(undo.reversed[0].what, "Rent: assignee changed back");
  await anna.ok("update_bill", { bill_id: bill.id, set: { assignee: BEN } });
  const { code, message, hint } = await anna.fails("update_bill", { bill_id: bill.id, set: { assignee: "cleo" } });
  assertEquals([code, message], ["not_found", '"cleo" matches no member of this organization.']);
  assertStringIncludes(hint, "details.members");
  const refused = await anna.fails("update_bill", { bill_id: bill.id, set: { assignee: null } });
  assertMatch(refused.hint, /""/);
  await anna.ok("update_bill", { bill_id: bill.id, set: { assignee: "" } });
  assertEquals((await anna.ok("list_bills")).data.bills[0].assignee, undefined);
  assertEquals(Object.keys(await mailsOf("2026-10-30")), [ANNA]);
});

Deno.test("Ben's choice of all mails affects only him, and his unsubscribe link ends only his mails", async () => {
  const { anna, ben, mailsOf, mail } = await household();
  await anna.ok("add_bill", { name: "Water", amount: "30", first_due: "2026-11-01", frequency: "weekly" });
  await anna.ok("add_bill", { name: "Zoom", amount: "20", first_due: "2027-03-01", trial_ends_on: "2026-11-09" });
  assertEquals(Object.keys(await mailsOf("2026-10-29")), [ANNA]);

  const { change_id, data } = await ben.ok("update_settings", { reminders: { my_mails: "all" } });
  assertEquals(data.settings.reminders.my_mails, "all");
  assertEquals((await anna.ok("get_context")).data.settings.reminders.my_mails, "mine");
  const refused = await anna.fails("undo_change", { change_id });
  assertEquals([refused.code, refused.message], [
    "forbidden_role",
    "Members choose their own emails.",
  ]);
  await ben.fails("update_settings", { reminders: { my_mails: "all", email_enabled: false } });

  const first = await mailsOf("2026-11-02");
  assertEquals(Object.keys(first).toSorted(), [ANNA, BEN]);
  assertStringIncludes(first[BEN]!.text, "the trial ends, then it costs €20.00 a month");
  const both = await mailsOf("2026-11-05");
  assertEquals(Object.keys(both).toSorted(), [ANNA, BEN]);
  assertEquals(both[ANNA]!.text.split("\n-- ")[0], both[BEN]!.text.split("\n-- ")[0], "the same for both");
  assertMatch(both[BEN]!.text, /because you chose reminders for all bills of “Garden Street”\./);

  const pages = createPages(over(database));
  const token = await signUnsubscribing(pages.config.codeSecrets, { userId: ben.userId, sentOn: "2026-11-20" });
  const link = `https://expenses.example/email/unsubscribe?t=${token}`;
  assertMatch(both[BEN]!.headers["List-Unsubscribe"]!, /^<https:\/\/\S+\/email\/unsubscribe\?t=\S+>$/);
  const post = async (fields: Record<string, string>) => {
    const response = await pages.app.request(link, { method: "POST", body: new URLSearchParams(fields) });
    assertEquals(response.status, 200);
    return await response.text();
  };
  assertStringIncludes(
    await post({ scope: ben.organizationId }),
    "You won’t get reminders about that organization’s bills.",
  );
  assertEquals(Object.keys(await mailsOf("2026-11-12")), [ANNA]);
  assertEquals((await ben.ok("get_context")).data.settings.reminders.my_mails, "none");

  // One click in a mail program ends all mails, and the assistant reports it.
  await post({ "List-Unsubscribe": "One-Click" });
  const { warnings } = await ben.ok("update_settings", { reminders: { my_mails: "all" } });
  assertEquals(warnings.map(({ code }: Json) => code), ["mails_off"]);
  assertEquals(Object.keys(await mailsOf("2026-11-19")), [ANNA]);
  assertEquals(new Set(mail.delivered.map(({ to }) => to)), new Set([ANNA, BEN]));
});

Deno.test("one bad address among a hundred members delays nobody's mail", async () => {
  const { anna, mail, mailsOf } = await household();
  await anna.ok("add_bill", { name: "Rent", amount: "1310", first_due: "2026-11-01" });
  await database.query(
    `with people as (
       insert into auth.users (id, email)
       select gen_random_uuid(), 'member' || n || '@example.com' from generate_series(1, 98) as n returning id, email
     ), profiles as (
       insert into identity.profiles (user_id, email, country) select id, email, 'DE' from people
     )
     insert into identity.memberships (organization_id, user_id, role, mails)
     select $1, id, 'member', 'all' from people`,
    [anna.organizationId],
  );
  await database.query("update identity.memberships set mails = 'all' where role = 'member'");
  mail.bad.add("member50@example.com");
  const sent = await mailsOf("2026-10-30");
  assertEquals([Object.keys(sent).length, "member50@example.com" in sent], [99, false]);
  assertEquals(await mailsOf("2026-10-31"), {});
});
