/** A budget on a running stack: people set it, ask how much is left, and get its mails. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { startStack } from "../_support/stack.ts";
import { connectFor, newPerson } from "./person.ts";
import { mailsTo, moveClock, runByHand } from "./reminder_days.ts";

/** Removes the non-breaking space that the reader's locale puts before a percent sign. */
const plain = (text: string) => text.replaceAll("\u00a0", " ");

Deno.test("a budget is set, reported, charted, and mailed once each at 80 and 100 percent", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  // The second month from now, so that all its days are in the future.
  const now = new Date();
  const dayOf = (day: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 2, day)).toISOString().slice(0, 10);
  await moveClock(stack, `${dayOf(1)}T05:00:00Z`);
  const person = await newPerson(stack, "noor@example.com");
  const { client, call } = await connectFor(person, stack.mcp_url);
  const ok = async (tool: string, args: Record<string, unknown>) => {
    const answer = await call(tool, args);
    assertEquals(answer.ok, true, JSON.stringify(answer));
    return answer;
  };
  const spend = (amount: string) =>
    ok("log_expenses", {
      items: [{ name: "Ads", category: "Marketing", amount }],
      create_missing_categories: true,
      on_duplicate: "allow",
    });
  /** The mail of a day, or null; a second run sends none. */
  const mailOf = async (day: number) => {
    const before = (await mailsTo(stack, person.email)).length;
    await moveClock(stack, `${dayOf(day)}T12:30:00Z`);
    assertEquals((await runByHand(stack)).errors, []);
    assertEquals((await runByHand(stack)).digestsSent, 0);
    const mails = await mailsTo(stack, person.email);
    return mails.length > before ? mails[0]! : null;
  };

  await spend("300");
  await ok("update_settings", { budget: { action: "set", category: "Marketing", amount: "500" } });
  const { data: { budgets } } = await ok("summarize_spending", { categories: ["Marketing"] });
  assertEquals(
    budgets.map(({ category, left, used_percent }: Record<string, unknown>) => [category, left, used_percent]),
    [
      ["Marketing", "200.00", 60],
    ],
  );
  assertEquals(await mailOf(2), null);

  const { change_id } = await spend("112");
  const { data: { table } } = await ok("show_spending_chart", {});
  assertStringIncludes(table, "| Marketing | 412.00 | 100% | 82% of 500.00 EUR |");
  const first = await mailOf(3);
  assertEquals(first!.subject, "The month’s budget for “Marketing” is almost used up");
  for (const part of [first!.text, first!.html.replaceAll(/<[^>]+>/g, "")]) {
    assertStringIncludes(plain(part), "Marketing: €412.00 of €500.00 this month (82 %)");
  }
  assertStringIncludes(first!.text, "“What is left of the budget for ‘Marketing’?”");

  // A mistake that was later undone and corrected was already reported.
  await ok("undo_change", { change_id });
  assertEquals(await mailOf(4), null);
  await spend("120");
  assertEquals(await mailOf(5), null);

  await spend("90");
  const second = await mailOf(6);
  assertEquals(second!.subject, "The month’s budget for “Marketing” is used up");
  assertStringIncludes(plain(second!.text), "Marketing: €510.00 of €500.00 this month (102 %)");
  await spend("50");
  assertEquals(await mailOf(7), null);
  await client.close();
});
