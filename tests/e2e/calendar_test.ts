/** A calendar on the running stack: two people share books, an app reads due dates, and no log contains its address. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import ICAL from "ical.js";
import { findForm, type FormBrowser } from "../../local/form_browser.ts";
import { signIn, startStack, type TestStack } from "../_support/stack.ts";
import { connectFor, newPerson } from "./person.ts";

const DAY_MS = 86_400_000;
const dayFromNow = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

/** Clicks a button on the person's account page; returns the next page. */
async function press(browser: FormBrowser, action: string) {
  const account = await browser.open("/account");
  return await browser.submit(account, findForm(account, ({ fields }) => fields.action === action));
}

/** The address for an app. */
async function getAddress(browser: FormBrowser): Promise<string> {
  const [, address] = /<code class="copy">([^<]+)<\/code>/.exec((await press(browser, "create")).html)!;
  return address!;
}

/** Requests without a cookie, as an app does. */
async function subscribe(address: string): Promise<{ status: number; said: string[] }> {
  const response = await fetch(address);
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, said: [] };
  const events = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent");
  return {
    status: 200,
    said: events.map((event) => `${event.getFirstPropertyValue("dtstart")} ${event.getFirstPropertyValue("summary")}`),
  };
}

/** A person with their own bill. */
async function withBill(stack: TestStack, email: string, bill: Record<string, unknown>) {
  const client = await connectFor(await newPerson(stack, email), stack.mcp_url);
  assertEquals((await client.call("add_bill", bill)).ok, true);
  return { client, browser: (await signIn(stack, email)).browser };
}

Deno.test("a calendar app shows one organization's due dates until the address ends", async () => {
  const stack = await startStack({ args: ["--no-demo"] });
  const due = dayFromNow(5);
  const anna = await withBill(stack, "anna@example.com", {
    name: "Rent\r\nEND:VEVENT",
    amount: "900",
    frequency: "once",
    first_due: due,
  });
  const eva = await withBill(stack, "eva@example.com", {
    name: "Secret",
    amount: "5",
    frequency: "once",
    first_due: due,
  });
  const addresses = [await getAddress(anna.browser), await getAddress(eva.browser)] as const;
  const annas = await subscribe(addresses[0]);
  assertEquals(annas.said.map((line) => line.replace(/Rent.*/, "Rent")), [`${due} Due: Rent`]);
  assertEquals((await subscribe(addresses[1])).said, [`${due} Due: Secret`]);

  await press(anna.browser, "show_amounts");
  assert((await subscribe(addresses[0])).said[0]!.endsWith(", €900.00"));
  // The assistant paid it, so the next read omits it.
  const paid = await anna.client.call("mark_bill_paid", { bill_name: "rent", due_on: due, advance: true });
  assertEquals(paid.ok, true, JSON.stringify(paid.error));
  assertEquals(await subscribe(addresses[0]), { status: 200, said: [] });

  await press(anna.browser, "end");
  assertEquals([(await subscribe(addresses[0])).status, (await subscribe(addresses[1])).status], [404, 200]);
  const log = stack.log();
  assert(log.includes('"route":"/calendar/[redacted]"'), log);
  for (const address of addresses) assertFalse(log.includes(/exp_cal_[\w-]+/.exec(address)![0]), log);
  await stack.stop();
});
