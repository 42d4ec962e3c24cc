/**
 * Reminders on a running stack: days pass, and mails arrive from manual and scheduled runs; a mail's link ends them.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";
import { connectFor, newPerson } from "./person.ts";
import { mailsTo, moveClock, runByHand } from "./reminder_days.ts";

Deno.test("reminders arrive on a running stack", async () => {
  // Without its own schedule, which would run at real times of day. The clock below triggers the jobs.
  await using stack = await startStack({ args: ["--no-demo"] });
  const now = Date.now();
  const day = (offset: number, time: string) =>
    `${new Date(now + offset * 86_400_000).toISOString().slice(0, 10)}T${time}Z`;
  const dateOf = (offset: number) => day(offset, "").slice(0, 10);
  await moveClock(stack, day(0, "05:00:00"));
  const mira = await newPerson(stack, "mira@example.com");
  const { client, call } = await connectFor(mira, stack.mcp_url);
  const add = (name: string, offset: number, amount: string) =>
    call("add_bill", { name, amount, first_due: dateOf(offset), frequency: "monthly" });
  assertEquals((await add("Rent", 5, "1450")).ok, true);
  assertEquals((await add("Netflix", 4, "12.99")).ok, true);

  // A manual run of the job: no bill is due yet, rates are fetched.
  {
    assertEquals(await runByHand(stack), {
      ok: true,
      candidates: 2,
      nextDueAdvanced: 0,
      digestsSent: 0,
      remindersSent: 0,
      fxRefreshed: true,
      errors: [],
    });
    assertEquals(await mailsTo(stack, mira.email), []);
  }

  // On schedule, when the clock reaches 08:00.
  {
    await moveClock(stack, day(1, "07:59:59.000"));
    const [mail] = await waitFor(async () => {
      const mails = await mailsTo(stack, mira.email);
      return mails.length > 0 ? mails : undefined;
    });
    assertMatch(mail!.subject, /^“Netflix” is due on \w{3}, /);
    assertStringIncludes(mail!.text, "in 3 days");
    assertStringIncludes(mail!.html, "Netflix");
    assertEquals(mail!.headers["list-unsubscribe-post"], "List-Unsubscribe=One-Click");
    assertEquals(mail!.headers["auto-submitted"], "auto-generated");
    assertMatch(mail!.headers["message-id"]!, /^<digest\./);
  }

  // Once a day, however often it runs.
  {
    const [answer] = await Promise.all([runByHand(stack), runByHand(stack)]);
    assertEquals([answer.digestsSent, answer.remindersSent], [0, 0]);
    assertEquals((await mailsTo(stack, mira.email)).length, 1);
    await moveClock(stack, day(2, "12:30:00"));
    const next = await runByHand(stack);
    assertEquals([next.digestsSent, next.remindersSent, next.errors], [1, 1, []]);
    assertStringIncludes((await mailsTo(stack, mira.email))[0]!.subject, "“Rent” is due ");
  }

  // The mail's link asks for confirmation, and one click ends reminders.
  {
    const [mail] = await mailsTo(stack, mira.email);
    const link = mail!.headers["list-unsubscribe"]!.slice(1, -1);
    assert(link.startsWith(`${stack.site_url}/email/unsubscribe?t=`));
    const page = await fetch(link);
    assertEquals([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    assertStringIncludes(await page.text(), "Stop reminder emails?");
    const done = await fetch(link, { method: "POST", body: new URLSearchParams("List-Unsubscribe=One-Click") });
    assertEquals(done.status, 200);
    await done.body?.cancel();
    await call("add_bill", { name: "Water", amount: "30", first_due: dateOf(3) });
    await moveClock(stack, day(3, "12:30:00"));
    const answer = await runByHand(stack);
    assertEquals([answer.candidates, answer.digestsSent], [3, 0]);
  }
  await client.close();
});
