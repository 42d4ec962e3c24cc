/**
 * `deno task suite browser`: an owner adds a rule, a member's assistant proposes, and the mail leads through sign-in to
 * the approval page, in Chromium with scripts off, over the running embedded stack.
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { waitFor } from "../_support/wait_for.ts";
import { begin, follow, heading, join, journey, openSignedOut, press, said, stack } from "./walking.ts";

const main = (page: Page) => page.locator("main").innerText();
const pageOf = (page: Page, organization: string, name: string) =>
  page.getByRole("navigation", { name: `Pages of ${organization}` }).getByRole("link", { name });

interface Mail {
  subject: string;
  text: string;
}
const mailsTo = async (to: string): Promise<Mail[]> =>
  await (await fetch(`${stack.mail_url}?to=${encodeURIComponent(to)}`)).json();
/** A mail that is sent after the assistant's answer. */
const mailAbout = (to: string, subject: string) =>
  waitFor(async () => (await mailsTo(to)).find((mail) => mail.subject.includes(subject)));
const linkIn = ({ text }: Mail) => /https?:\/\/\S+\/account\/approvals\/\S+/.exec(text)![0];

journey(
  "a member's assistant asks, and the owner approves, refuses, or sees it withdrawn",
  async (page, _, visitor) => {
    await begin(page, "anna@example.com", "Elm Street");
    await pageOf(page, "Elm Street", "Approvals").click();
    assertEquals(await heading(page), "Approvals in Elm Street");
    const organizationId = /organizations\/([^/]+)/.exec(page.url())![1]!;
    assertStringIncludes(await main(page), "Nothing needs approval.");
    await page.getByLabel("Only over this amount, in EUR").fill("a lot");
    await press(page, "Add rule");
    assertStringIncludes(await main(page), "Write an amount such as 200 or 199.90.");
    await page.getByLabel("Only over this amount, in EUR").fill("200");
    await press(page, "Add rule");
    assertStringIncludes(await said(page), "The rule is added.");
    assertStringIncludes(await main(page), "needs approval from a manager or the owner.");

    const ben = await visitor();
    const { client, call } = await join(page, ben, { organizationId, email: "ben@example.com" });
    const ask = async (name: string) => {
      const answer = await call("log_expenses", { items: [{ name, amount: "450.00" }] });
      assertEquals([answer.ok, answer.error?.code], [false, "awaiting_approval"]);
      return new URL(answer.error.details.url).pathname;
    };
    const path = await ask("Projector");

    // From the mail, through sign-in, to the page.
    const mail = await mailAbout("anna@example.com", "wants to add 1 expense");
    assertStringIncludes(mail.text, "Projector added: amount €450.00");
    assertStringIncludes(mail.text, "in “Elm Street”");
    const anna = await visitor();
    await openSignedOut(anna, linkIn(mail), "anna@example.com");
    assertEquals(new URL(anna.url()).pathname, path);
    assertEquals(await heading(anna), "ben@example.com’s Test client wants to add 1 expense");
    assertStringIncludes(await main(anna), "450.00");
    await page.goto("/account");
    await follow(page, "One change is waiting for your approval");
    await page.getByRole("link", { name: /^ben@example.com’s Test client wants to add/ }).click();

    // Another person who receives the link cannot see the page.
    const dana = await visitor();
    await begin(dana, "dana@example.com", "Elsewhere");
    await dana.goto(linkIn(mail));
    assertEquals(await heading(dana), "There’s nothing to approve here");
    assertEquals(await dana.getByRole("button", { name: "Approve" }).count(), 0);

    await press(anna, "Approve");
    assertStringIncludes(await said(anna), "Approved by anna@example.com");
    // The other window still has its buttons, and so does the previous page.
    await press(page, "Reject");
    assertStringIncludes(await said(page), "Somebody else had already decided");
    await anna.goBack();
    if (await anna.getByRole("button", { name: "Approve" }).count() > 0) {
      await press(anna, "Approve");
      assertStringIncludes(await main(anna), "Approved by anna@example.com");
    }
    assertStringIncludes((await mailAbout("ben@example.com", "Approved: add 1 expense")).text, "It’s done.");
    const { data } = await call("list_expenses");
    assertEquals(data.rows.map(({ name }: { name: string }) => name), ["Projector"]);

    const refused = await ask("Screen");
    await anna.goto(refused);
    await press(anna, "Reject");
    assertStringIncludes(await said(anna), "Nothing was changed.");
    await mailAbout("ben@example.com", "Rejected: add 1 expense");

    const withdrawn = await ask("Speaker");
    await ben.goto(withdrawn);
    assertStringIncludes(await main(ben), "You asked for this yourself");
    assertEquals(await ben.getByRole("button", { name: "Approve" }).count(), 0);
    await press(ben, "Withdraw");
    assertStringIncludes(await said(ben), "Withdrawn on");
    await ben.goto(`/organizations/${organizationId}/approvals`);
    assert(!(await main(ben)).includes("What needs approval\n"));
    assertEquals((await call("list_expenses")).data.rows.length, 1);
    await client.close();

    await page.goto(`/organizations/${organizationId}/approvals`);
    await press(page, "Let assistants approve");
    assertStringIncludes(await said(page), "through their assistants");
    await page.getByRole("button", { name: /^Remove:/ }).click();
    assertStringIncludes(await said(page), "The rule is removed.");
    assertStringIncludes(await main(page), "Nothing needs approval.");
  },
);
