/**
 * An amount from its provider to the totals, on a running stack: a person connects the bill on the page, the schedule
 * fetches the amount, a mail reports it, and the person pays it.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fixtureAmount } from "../../local/fixtures/providers/app.ts";
import { findForm } from "../../local/form_browser.ts";
import type { ReceivedMail } from "../../local/mail/smtp_sink.ts";
import { signIn, startStack, type TestStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";
import { connectFor, newPerson } from "./person.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const TOKEN = "dop_v1_c4nary0123456789abcdef7e57";

/** `deno task operate cron …`, as a person runs it. */
async function cron(stack: TestStack, ...args: string[]) {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "operate", "cron", ...args, "--data", stack.folder],
    cwd: ROOT,
    stdout: "piped",
    stderr: "piped",
  }).output();
  const text = new TextDecoder().decode(success ? stdout : stderr.length ? stderr : stdout);
  return { success, text, answer: success ? JSON.parse(text) : undefined };
}

Deno.test("an amount is fetched after its month, mailed, paid and included in the totals", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  // The 2nd of next month: the clock moves only forward here.
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 7);
  const statementMonth = now.toISOString().slice(0, 7);
  const amount = fixtureAmount("digitalocean", { secret: TOKEN, month: statementMonth });
  const moveClock = async (now: string) => {
    const response = await fetch(`${stack.local_url}/clock`, {
      method: "POST",
      body: JSON.stringify({ now }),
    });
    assertEquals(response.status, 200, await response.text());
  };
  await moveClock(`${month}-02T05:00:00Z`);
  const mira = await newPerson(stack, "mira@example.com");
  const { client, call } = await connectFor(mira, stack.mcp_url);
  const { bill } = (await call("add_bill", {
    name: "Cloud hosting",
    amount_mode: "variable",
    currency: "USD",
    first_due: `${month}-04`,
  })).data;

  // The assistant names the URL for connecting; the page accepts the credential.
  {
    const provider = { action: "connect", provider: "DigitalOcean" };
    const { data } = await call("update_bill", { bill_id: bill.id, provider });
    const { browser } = await signIn(stack, mira.email);
    const page = await browser.open(data.connect_url);
    const form = findForm(page, ({ fields }) => "credential_token" in fields);
    const connected = await browser.submit(page, form, { fill: { credential_token: TOKEN } });
    assertEquals(connected.status, 200, connected.html);
    assertStringIncludes(connected.html, "DigitalOcean");
    assert(!connected.html.includes(TOKEN));
    assertEquals((await call("list_bills", { bill_id: bill.id })).data.bills[0].provider, {
      name: "DigitalOcean",
      status: "active",
    });
  }

  // On schedule, when the clock reaches the 2nd, 06:00.
  {
    await moveClock(`${month}-02T05:59:59.000Z`);
    const shown = await waitFor(async () => {
      const [shown] = (await call("list_bills", { bill_id: bill.id })).data.bills;
      return shown.amount ? shown : undefined;
    });
    assertEquals([shown.amount, shown.currency, shown.next_due], [amount, "USD", `${month}-04`]);
  }

  // A manual run changes nothing, even for a given month; an unfinished month is refused.
  {
    const answer = { ok: true, period: `${statementMonth}-01`, links: 1, synced: 1, errors: [] };
    const [first, second] = await Promise.all([
      cron(stack, "provider-sync"),
      cron(stack, "provider-sync", "--period", statementMonth),
    ]);
    assertEquals([first.answer, second.answer], [answer, answer]);
    const { success, text } = await cron(stack, "provider-sync", "--period", month);
    assertEquals(success, false);
    assertStringIncludes(text, "period must be a past month");
    const synced = (await call("sync_bill_amounts", { bill_ids: [bill.id] })).data.bills[0];
    assertEquals([synced.status, synced.text], [
      "unchanged",
      "The amount of Cloud hosting was last requested less than an hour ago. Try again later.",
    ]);
    assertEquals((await call("list_bills", { bill_id: bill.id })).data.bills[0].amount, amount);
  }

  // The digest names the provider and the day.
  {
    await moveClock(`${month}-02T12:00:00Z`);
    assertEquals((await cron(stack, "reminders")).success, true);
    const mails: ReceivedMail[] = await (await fetch(`${stack.mail_url}?to=${encodeURIComponent(mira.email)}`))
      .json();
    const mail = mails.find(({ headers }) => headers["list-unsubscribe"]);
    assertMatch(mail!.text, /Cloud hosting .* (US)?\$[\d.]+\n.*from DigitalOcean on /);
    assertStringIncludes(mail!.html, "from DigitalOcean");
  }

  // The tool uses the same code and finds nothing new.
  {
    const [synced] = (await call("sync_bill_amounts")).data.bills;
    assertEquals([synced.status, synced.new], ["unchanged", amount]);
  }

  // Once paid, it is in the totals.
  {
    assertEquals(
      (await call("mark_bill_paid", { bill_id: bill.id, due_on: bill.next_due })).data.payment.amount,
      amount,
    );
    const { data } = await call("summarize_spending", { period: "this_month", in_currency: "USD" });
    assertEquals([data.total.amount, data.total.currency], [amount, "USD"]);
  }

  assert(!stack.log().includes(TOKEN), "the credential is in no log line");
  await client.close();
});
