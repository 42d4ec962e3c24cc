/** Mails about trials, contracts and overdue bills arrive in time on a running stack. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startStack } from "../_support/stack.ts";
import { connectFor, newPerson } from "./person.ts";
import { mailsTo, moveClock, runByHand } from "./reminder_days.ts";

const stack = await startStack({ args: ["--no-demo"] });
Deno.test.afterAll(async () => void await stack.stop());
const now = Date.now();
const dateOf = (day: number) => new Date(now + day * 86_400_000).toISOString().slice(0, 10);

/** A person who signs up on a given day, with a full trial of two weeks; days count from the sign-up. */
async function signUp(name: string, since: number) {
  await moveClock(stack, `${dateOf(since)}T05:00:00Z`);
  const person = await newPerson(stack, `${name}@example.com`);
  const { client, call } = await connectFor(person, stack.mcp_url);
  const ok = async (tool: string, args: Record<string, unknown>) => {
    const answer = await call(tool, args);
    assertEquals(answer.ok, true, JSON.stringify(answer));
    return answer.data;
  };
  return {
    client,
    ok,
    day: (day: number) => dateOf(since + day),
    async add(bill: string, day: number, more: Record<string, unknown>): Promise<string> {
      return (await ok("add_bill", { name: bill, amount: "20", first_due: dateOf(since + day), ...more })).bill.id;
    },
    /** The mail of a day, or null; a second run sends none. */
    async mailOf(day: number) {
      const before = (await mailsTo(stack, person.email)).length;
      await moveClock(stack, `${dateOf(since + day)}T12:30:00Z`);
      assertEquals((await runByHand(stack)).errors, []);
      const mails = await mailsTo(stack, person.email);
      assertEquals((await runByHand(stack)).digestsSent, 0);
      return mails.length > before ? mails[0]! : null;
    },
  };
}

Deno.test("the end of a trial is mailed 7 days and 1 day before", async () => {
  const { client, add, day, mailOf } = await signUp("mira", 0);
  await add("Zoom", 300, { trial_ends_on: day(10) });
  assertEquals(await mailOf(2), null);
  assertMatch((await mailOf(3))!.subject, /^The trial of “Zoom” ends on \w{3}, /);
  assertEquals(await mailOf(4), null);
  const last = await mailOf(9);
  assertEquals(last!.subject, "The trial of “Zoom” ends tomorrow");
  assertStringIncludes(last!.text, "the trial ends, then it costs €20.00 a month");
  assertEquals(await mailOf(10), null);
  await client.close();
});

Deno.test("the last day to cancel is mailed with the next term's cost, and rolls", async () => {
  const { client, add, day, mailOf } = await signUp("ben", 20);
  await add("Gym", 300, { renews_on: day(20), notice_days: 5 });
  const first = await mailOf(1);
  assertMatch(first!.subject, /^The last day to cancel “Gym” is /);
  assertStringIncludes(first!.text, "for another year, which costs €240.00");
  assertStringIncludes(first!.html, "which costs €240.00");
  assertEquals(await mailOf(2), null);
  assertMatch((await mailOf(12))!.subject, /^The last day to cancel “Gym” is /);
  await client.close();

  const { add: addLate, ...late } = await signUp("lea", 40);
  await addLate("Gym", 300, { renews_on: late.day(5), notice_days: 3 });
  await moveClock(stack, `${late.day(3)}T12:30:00Z`);
  const { bills: [gym] } = await late.ok("list_bills", {});
  assertEquals(Number(gym.cancel_by.slice(0, 4)), Number(late.day(2).slice(0, 4)) + 1);
  assertEquals(gym.renews_on, late.day(5));
  const mail = await late.mailOf(4);
  assertEquals(mail!.subject, "“Gym” renews tomorrow");
  assertStringIncludes(mail!.text, "renews for another year: €240.00");
  await late.client.close();
});

Deno.test("overdue rent is mailed again until it is paid, and is named first", async () => {
  const { client, ok, add, day, mailOf } = await signUp("noor", 60);
  const rent = await add("Rent", 1, { remind_days_before: 0, frequency: "once" });
  assertEquals((await mailOf(1))!.subject, "“Rent” is due today");
  assertEquals(await mailOf(3), null);
  assertMatch((await mailOf(4))!.subject, /^“Rent” has been overdue since /);
  await add("Music", 9, { remind_days_before: 1, frequency: "once" });
  const both = await mailOf(8);
  assertEquals(both!.subject, "1 bill due this week, 1 overdue");
  assertStringIncludes(both!.text, "Rent");
  await ok("mark_bill_paid", { bill_id: rent, due_on: day(1) });
  assertEquals(await mailOf(11), null);
  assertEquals((await mailOf(12))!.subject.slice(0, 16), "“Music” has been");
  await client.close();
});
