/** `deno task demo` as a newcomer runs it: without a stack, on a new one, and again on the same one. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { signIn, startStack } from "../_support/stack.ts";

const ROOT = new URL("../../", import.meta.url);

async function runDemo(folder: string, ...args: string[]): Promise<{ code: number; text: string; error: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "demo", "--data", folder, ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, text: decode(stdout), error: decode(stderr) };
}

Deno.test("the demo names the command to start a stack when none is running", async () => {
  const folder = await Deno.makeTempDir({ prefix: "no-stack-" });
  const { code, error } = await runDemo(folder);
  assertEquals(code, 1);
  assert(error.endsWith(` task start --data ${folder}\n`), error);
  assertMatch(error, /No stack is running .*: (deno|npx -y deno@[\d.]+) task start/);
  const help = await runDemo(folder, "--help");
  assertEquals([help.code, help.error], [0, ""]);
  assertMatch(help.text, /task demo \[options\]/);
  const mistyped = await runDemo(folder, "--dta", "x");
  assertEquals(mistyped.code, 1);
  assertMatch(mistyped.error, /^Unknown option '--dta'.*\n\n.*task demo \[options\]/s);
  await Deno.remove(folder);
});

Deno.test("the demo prints a conversation, and a different one the second time", async () => {
  const stack = await startStack();
  const first = await runDemo(stack.folder);
  assertEquals(first.code, 0);
  assertMatch(first.text, /demo@example\.com signs in by mail and presses Allow/);
  assertMatch(first.text, /You: Log 14\.50 EUR .*\n.*log_expenses .*\nAssistant: Done: Lunch, €14\.50, on /);
  assertMatch(first.text, /You: What is due this week\?\n.*\nAssistant: \d+ bills, €/);
  assertMatch(first.text, /You: I have just paid the rent\.\n.*\nAssistant: Noted: Rent, /);
  assertMatch(first.text, /Assistant: Added: Netflix, €15\.99, every month on the 5th/);
  assertMatch(first.text, /You: Where did the money go last month\?\n.*\nAssistant: €[\d,.]+ in \d+ payments/);
  assertMatch(first.text, /Assistant: Taken back: “Added Netflix/);

  const second = await runDemo(stack.folder);
  assertEquals(second.code, 0);
  assertMatch(second.text, /That lunch is already in the books/);
  assertMatch(second.text, /That is already marked as paid/);
  assertMatch(second.text, /Assistant: Taken back: “Added Netflix/);
  for (const { text, error } of [first, second]) {
    assertEquals(error, "");
    assertEquals(/undefined|went wrong/.test(text), false, text);
  }
  const { page } = await signIn(stack, stack.demo!.email, { next: "/account" });
  assertEquals(page.html.match(/aria-label="Disconnect Demo assistant"/g)?.length, 1);
  await stack.stop();
});
