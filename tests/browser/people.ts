/**
 * `deno task suite browser`: people and their data through the running embedded stack, in Chromium with scripts off:
 * members, plan, export, sign-in address, other browsers, and deletion.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { readCsv, unzip } from "../_support/unzip.ts";
import { connectFor, personOf } from "../e2e/person.ts";
import { begin, follow, heading, journey, newestMail, press, said, signIn, stack } from "./walking.ts";

const main = (page: Page) => page.locator("main").innerText();
/** The link to a path in the newest mail to an address. */
const linkIn = async (address: string, path: string) =>
  new RegExp(`https?://[^\\s"]+${path}[^\\s"]+`).exec((await newestMail(address)).replaceAll("&amp;", "&"))![0];
const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const pageOf = (page: Page, organization: string, name: string) =>
  page.getByRole("navigation", { name: `Pages of ${organization}` }).getByRole("link", { name });

journey("one invites another, who joins, becomes the owner, and removes the first", async (page, _, visitor) => {
  await begin(page, "anna@example.com", "Garden Street");
  await pageOf(page, "Garden Street", "Members").click();
  assertEquals(await heading(page), "Members of Garden Street");
  await page.getByLabel("Their email address").fill("ben@example");
  await page.getByRole("radio", { name: /^Member/ }).check();
  await press(page, "Send invitation");
  assertStringIncludes(await main(page), "That’s not an email address");
  await page.getByLabel("Their email address").fill("ben@example.com");
  await press(page, "Send invitation");
  assertStringIncludes(await said(page), "Invited.");

  // Ben has no account; the link's page creates one.
  const ben = await visitor();
  await ben.goto(await linkIn("ben@example.com", "/invitation"));
  assertEquals(await heading(ben), "Join Garden Street?");
  assertStringIncludes(await main(ben), "anna@example.com");
  await press(ben, "Accept");
  assertStringIncludes(await said(ben), "You’re in.");
  assertEquals(await ben.getByLabel("Their email address").count(), 0, "members invite nobody");

  await page.reload();
  await page.getByText("Change role").click();
  await page.getByLabel("Role", { exact: true }).selectOption("manager");
  await press(page, "Save");
  assertStringIncludes(await said(page), "The role is changed.");

  await follow(page, "Hand over to another member");
  assertEquals(await heading(page), "Who takes over Garden Street?");
  await page.getByLabel("New owner").selectOption({ label: "ben@example.com" });
  await press(page, "Ask them");
  assertStringIncludes(await said(page), "Until they accept, nothing changes.");
  await ben.goto(await linkIn("ben@example.com", "/organizations/"));
  await press(ben, "Become the owner");
  assertStringIncludes(await said(ben), "You’re the owner now.");

  await follow(ben, "Remove anna@example.com");
  assertEquals(await heading(ben), "Remove anna@example.com from Garden Street?");
  await press(ben, "Remove");
  assertStringIncludes(await said(ben), "Removed. They and their apps");
  await page.reload();
  assertEquals((await page.reload())!.status(), 404);
});

journey(
  "an invited person is in the books after one page on a phone, and finds the bill of the first reminder",
  async (page, _, visitor) => {
    await begin(page, "gina@example.com", "Gina & Hal");
    const { client, call } = await connectFor(personOf(stack, "gina@example.com"), stack.mcp_url);
    const { context } = await call("add_bill", { name: "Electricity", amount: "84.50", first_due: dayIn(2) });
    await page.goto(`/organizations/${context.organization.id}/members`);
    await page.getByLabel("Their email address").fill("hal@example.com");
    await press(page, "Send invitation");

    const hal = await visitor();
    await hal.setViewportSize({ width: 390, height: 844 });
    await hal.goto(await linkIn("hal@example.com", "/invitation"));
    await press(hal, "Accept");
    assertStringIncludes(await said(hal), "You’re in.");
    assertMatch(await main(hal), /Overdue[^]*Due[^]*84[.,]50[^]*Electricity/);

    await call("update_bill", { bill_name: "Electricity", set: { assignee: "hal@example.com" } });
    await client.close();
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "operate", "cron", "reminders", "--data", stack.folder],
      cwd: new URL("../../", import.meta.url).pathname,
    }).output();
    assert(success);
    const mail = await newestMail("hal@example.com");
    assertMatch(mail, /“Electricity” is due/);
    await hal.goto(/https?:\/\/\S+\/books\S*/.exec(mail)![0]);
    assertEquals(await heading(hal), "The books of Gina & Hal");
  },
);

journey("a second organization has its own books, and its owner takes them out as files", async (page) => {
  await begin(page, "cleo@example.com", "Atelier Cleo");
  await follow(page, "Create an organization");
  await page.getByLabel("Name", { exact: true }).fill("Flat 4");
  await press(page, "Create");
  assertStringIncludes(await said(page), "The organization is created.");
  assertMatch(await main(page), /Atelier Cleo[^]*Flat 4|Flat 4[^]*Atelier Cleo/);

  const { client, call } = await connectFor(personOf(stack, "cleo@example.com"), stack.mcp_url);
  const { context } = await call("log_expenses", {
    items: [{ name: "Paint", amount: "19.90", tax: "3.18" }, { name: "=1+1", amount: "2.00" }],
  });
  await client.close();
  const organization: string = context.organization.name;
  await pageOf(page, organization, "Export").click();
  assertEquals(await heading(page), `Export the books of ${organization}`);
  const download = async (button: string) => {
    const coming = page.waitForEvent("download");
    await press(page, button);
    const file = await coming;
    return { name: file.suggestedFilename(), bytes: await Deno.readFile((await file.path())!) };
  };
  const archive = await download("Download everything");
  assertMatch(archive.name, /^books-\d{4}-\d\d-\d\d\.zip$/);
  const files = unzip(archive.bytes);
  assertStringIncludes(files.get("README.txt")!, organization);
  assertEquals(readCsv(files.get("payments.csv")!).length, 3);
  await page.getByLabel("Period").selectOption("this_month");
  const payments = await download("Download CSV");
  assertMatch(payments.name, /^expenses-.*\.csv$/);
  const rows = readCsv(new TextDecoder().decode(payments.bytes).replace(/^\ufeff/, ""));
  assertEquals(rows.slice(1).map((row) => row[2]).toSorted(), ["'=1+1", "Paint"]);
});

journey("a trial's plan page says what comes next", async (page) => {
  await begin(page, "dana@example.com", "Dana");
  await pageOf(page, "Dana", "Plan").click();
  assertEquals(await heading(page), "Plan of Dana");
  assertMatch(await main(page), /Your trial ends on [^]*Nothing is deleted/);
});

journey(
  "a changed address counts once both were confirmed, and other browsers are signed out",
  async (page, _, visitor) => {
    await begin(page, "eli@example.com", "Eli");
    const elsewhere = await visitor();
    await signIn(elsewhere, "eli@example.com");
    assertEquals(await heading(elsewhere), "Your account");
    await press(page, "Sign out everywhere else");
    assertStringIncludes(await said(page), "You’re signed out everywhere else.");
    await elsewhere.goto("/account");
    assertEquals(await heading(elsewhere), "Sign in");

    await follow(page, "Change address");
    await page.getByLabel("New address").fill("eli@new.example");
    await press(page, "Email both addresses");
    assertEquals(await heading(page), "Check both inboxes");
    for (
      const [address, then] of [["eli@example.com", "One more email"], [
        "eli@new.example",
        "Your sign-in address has changed",
      ]] as const
    ) {
      await page.goto(await linkIn(address, "/account/email/confirm"));
      await press(page, "Confirm the change");
      assertEquals(await heading(page), then);
    }
    await signIn(await visitor(), "eli@new.example");
    await page.goto("/account");
    assertStringIncludes(await main(page), "eli@new.example");
  },
);

journey("an organization and an account are deleted, and kept after all", async (page) => {
  await begin(page, "finn@example.com", "Old Mill");
  await follow(page, "Delete Old Mill");
  assertEquals(await heading(page), "Delete Old Mill?");
  const name = page.getByLabel("Type its name, Old Mill, to confirm");
  await name.fill("Old Will");
  await press(page, "Delete it");
  assertStringIncludes(await main(page), "That isn’t its name.");
  await name.fill("Old Mill");
  await press(page, "Delete it");
  assertEquals(await heading(page), "Old Mill is being deleted");
  await press(page, "Keep it after all");
  assertStringIncludes(await said(page), "The organization stays.");

  await follow(page, "Delete your account");
  assertStringIncludes(
    await main(page),
    "Before you can delete your account, hand over or delete the organizations you own.",
  );
  await follow(page, "Delete");
  await page.getByLabel("Type its name, Old Mill, to confirm").fill("Old Mill");
  await press(page, "Delete it");
  await page.goto("/account/delete");
  await page.getByLabel("Type your address, finn@example.com, to confirm").fill("finn@example.com");
  await press(page, "Delete my account");
  assertEquals(await heading(page), "You’re signed out");
  await signIn(page, "finn@example.com");
  assertEquals(await heading(page), "Your account is being deleted");
  await press(page, "Keep my account");
  await page.goto("/account");
  assert(["Your account"].includes((await heading(page))!));
});
