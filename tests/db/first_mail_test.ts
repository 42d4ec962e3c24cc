/**
 * "Remind me": a person who adds a bill gets mail about it, or learns the recipient's name, on the day that the answer
 * names.
 */
import { assertEquals } from "@std/assert";
import type { Books } from "../_support/books.ts";
import { at, database, fresh, run } from "./reminder_run.ts";

const add = (books: Books, args: Record<string, unknown>) =>
  books.call("add_bill", { name: "Game pass", amount: "9.99", frequency: "monthly", ...args });

/** The first day of the following weeks on which a mail to a person names the bill. */
async function firstMail(userId: string, from: number): Promise<string | undefined> {
  for (let day = from; day < from + 30; day++) {
    const on = new Date(Date.UTC(2026, 10, day)).toISOString().slice(0, 10);
    const digests = await run(at(on));
    if (
      digests.some(({ recipient_id, content }) =>
        recipient_id === userId &&
        content.organizations.some(({ bills }) => bills.some(({ name }) => name === "Game pass"))
      )
    ) return on;
  }
}

Deno.test("a member who requests reminders gets one on the announced day", async () => {
  for (const asked of [{ reminder_enabled: true }, { remind_days_before: 2 }]) {
    const member = await (await fresh()).join();
    const { data, warnings } = await add(member, { first_due: "2026-11-25", ...asked });
    assertEquals([warnings, data.bill.assignee !== undefined], [[], true]);
    assertEquals(await firstMail(member.userId, 11), data.first_reminder_on);
  }
  const books = await fresh();
  const member = await books.join();
  const { id } = (await add(books, { first_due: "2026-11-25" })).data.bill;
  await member.ok("update_bill", { bill_id: id, set: { reminder_enabled: true } });
  assertEquals(await firstMail(member.userId, 11), "2026-11-22");
});

Deno.test("a member who requests no reminders, or already gets them, is not assigned", async () => {
  const books = await fresh();
  const member = await books.join();
  assertEquals((await add(member, { first_due: "2026-11-25" })).data.bill.assignee, undefined);
  assertEquals(
    (await add(books, { name: "Rent", first_due: "2026-11-25", reminder_enabled: true })).data.bill.assignee,
    undefined,
  );
});

Deno.test("a member without mails learns the recipient's name", async () => {
  const books = await fresh();
  const member = await books.join();
  await database.query("update identity.memberships set mails = 'none' where user_id = $1", [member.userId]);
  const { data, warnings } = await add(member, { first_due: "2026-11-25", reminder_enabled: true });
  assertEquals(warnings.map(({ code }: { code: string }) => code), ["reminders_to_others"]);
  assertEquals(await firstMail(books.userId, 11), data.first_reminder_on);
});

Deno.test("a bill added after the day's mail names the next mail, for every schedule", async () => {
  const cases: [time: string, mailedBefore: boolean, args: Record<string, unknown>][] = [
    ["14:00", false, { first_due: "2026-11-10" }],
    ["14:00", false, { first_due: "2026-11-11" }],
    ["14:00", false, { first_due: "2026-11-10", frequency: "once" }],
    ["14:00", false, { first_due: "2026-11-10", frequency: "daily" }],
    ["14:00", false, { first_due: "2026-11-10", frequency: "daily", every: 5 }],
    ["14:00", false, { first_due: "2026-11-10", autopay: true }],
    ["09:00", true, { first_due: "2026-11-10" }],
    ["09:00", false, { first_due: "2026-11-10" }],
    ["06:00", false, { first_due: "2026-11-10" }],
    ["14:00", false, { first_due: "2026-11-25", remind_days_before: 7 }],
  ];
  for (const [time, mailedBefore, args] of cases) {
    const books = await fresh({ time });
    if (mailedBefore) {
      await books.ok("add_bill", { name: "Rent", amount: "1", first_due: "2026-11-11" });
      assertEquals((await run(at("2026-11-10"))).length, 1);
    }
    const { data } = await add(books, args);
    const isBefore = time < "12:00" && (await run(at("2026-11-10", time < "08:00" ? "08:00" : time))).length > 0;
    const first = isBefore ? "2026-11-10" : await firstMail(books.userId, 11);
    assertEquals([args, time, data.first_reminder_on], [args, time, first]);
  }
});
