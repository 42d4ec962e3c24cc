/** Days that pass on a running stack, the reminders job on them, and the mails it sends. */
import { assert, assertEquals } from "@std/assert";
import type { ReceivedMail } from "../../local/mail/smtp_sink.ts";
import type { TestStack } from "../_support/stack.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Sets the stack's clock. */
export const moveClock = async (stack: TestStack, now: string) => {
  const response = await fetch(`${stack.local_url}/clock`, { method: "POST", body: JSON.stringify({ now }) });
  assertEquals(response.status, 200, await response.text());
};

/** The digests that an address received, the latest first. */
export async function mailsTo(stack: TestStack, email: string): Promise<ReceivedMail[]> {
  const mails: ReceivedMail[] = await (await fetch(`${stack.mail_url}?to=${encodeURIComponent(email)}`)).json();
  return mails.filter(({ headers }) => headers["list-unsubscribe"]);
}

/** `deno task operate cron reminders`, as a person runs it. */
export async function runByHand(stack: TestStack) {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "operate", "cron", "reminders", "--data", stack.folder],
    cwd: ROOT,
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}
