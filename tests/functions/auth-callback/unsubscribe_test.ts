/** Only a person or a mail program can unsubscribe from reminders. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { signUnsubscribing } from "../../../shared/reminders/unsubscribe_token.ts";
import { type Books, openBooks } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { createPages, formsOf, over, signIn } from "./harness.ts";

const database = await sharedDatabase();
const pages = createPages(over(database));

const linkOf = async (userId: string, sentOn = "2026-11-20") =>
  `/email/unsubscribe?t=${await signUnsubscribing(pages.config.codeSecrets, { userId, sentOn })}`;

/** The owner of the books, signed in. */
async function owner(books: Books) {
  const email = `${books.userId}@example.com`;
  pages.provider.users.set(email, { id: books.userId, email });
  return (await signIn(pages, email)).browser;
}

const texts = (html: string) => html.replace(/^.*?<main/s, "<main").replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

async function isReminded(books: Books) {
  const [row] = await database.query<Record<string, unknown>>(
    `select p.email_enabled, m.mails from identity.memberships as m
     join identity.profiles as p on p.user_id = m.user_id where m.organization_id = $1 and m.role = 'owner'`,
    [books.organizationId],
  );
  return row;
}

const ONE_CLICK = "List-Unsubscribe=One-Click";

Deno.test("opening the link asks for confirmation and changes nothing, even after repeated scans", async () => {
  const books = await openBooks(database);
  const link = await linkOf(books.userId);
  for (const method of ["GET", "HEAD", "GET"]) {
    const response = await pages.app.request(`https://expenses.example${link}`, { method });
    assertEquals(response.status, 200);
    if (method === "GET") assertEquals(formsOf(await response.text())[0]!.fields, {});
  }
  assertEquals(await isReminded(books), { email_enabled: true, mails: "mine" });
});

Deno.test("one click in a mail program ends all reminders, in either form encoding, from anywhere, without a session", async () => {
  const multipart = new FormData();
  multipart.set("List-Unsubscribe", "One-Click");
  for (const body of [new URLSearchParams(ONE_CLICK), multipart]) {
    const books = await openBooks(database);
    const response = await pages.app.request(`https://expenses.example${await linkOf(books.userId)}`, {
      method: "POST",
      body,
      headers: { origin: "https://mail.example", "sec-fetch-site": "cross-site" },
    });
    assertEquals(response.status, 200);
    assertStringIncludes(await response.text(), "You won’t get any more reminder emails.");
    assertEquals(await isReminded(books), { email_enabled: false, mails: "mine" });
  }
});

Deno.test("without a session a link shows only organizations and the kind of mail", async () => {
  const books = await openBooks(database);
  const { bill } = await books.ok("add_bill", { name: "Divorce lawyer", amount: "4711.50", first_due: "2026-12-01" });
  const link = await linkOf(books.userId);
  const stranger = pages.browser();
  const { browser: other } = await signIn(pages, "other@example.com");
  for (const [browser, hint] of [[stranger, " Only one bill? Sign in to choose it ."], [other, ""]] as const) {
    assertEquals(
      texts(await (await browser.get(link)).text()).trim(),
      "Stop reminder emails? They tell you about due and overdue bills in Household . Your bills stay as they are. " +
        `Unsubscribe${hint}`,
    );
  }
  const guessed = await stranger.post(link, { scope: bill.id });
  assertEquals(guessed.status, 403);
  const answer = texts(await guessed.text());
  assertStringIncludes(answer, "Sign in to unsubscribe");
  assert(!answer.includes("lawyer"));
});

Deno.test("after 90 days a link requires its owner to sign in", async () => {
  const books = await openBooks(database);
  const link = await linkOf(books.userId, "2026-08-22");
  const lastDay = await linkOf(books.userId, "2026-08-23");
  assertEquals((await pages.browser().get(lastDay)).status, 200);

  const stranger = pages.browser();
  for (const response of [await stranger.get(link), await stranger.post(link, { "List-Unsubscribe": "One-Click" })]) {
    assertEquals(response.status, 403);
    const page = await response.text();
    assertStringIncludes(page, `href="/login?next=${encodeURIComponent(link)}"`);
    assert(!page.includes("Household"));
  }
  const { browser: other } = await signIn(pages, "yet-another@example.com");
  assertStringIncludes(await (await other.get(link)).text(), "This link is for another account");
  assertEquals((await other.post(link, {})).status, 403);
  const own = await owner(books);
  const asked = await (await own.get(link)).text();
  assertEquals((await own.post(link, {})).status, 403, "without the form's token");
  assertEquals(await isReminded(books), { email_enabled: true, mails: "mine" });

  assertEquals((await own.submit(asked, "Unsubscribe")).status, 200);
  assertEquals(await isReminded(books), { email_enabled: false, mails: "mine" });
  assertStringIncludes(await (await own.get(link)).text(), "Reminder emails are off");
});

Deno.test("a valid link works while the identity provider is down", async () => {
  const books = await openBooks(database);
  const own = await owner(books);
  const link = await linkOf(books.userId);
  pages.provider.failure = () => Promise.resolve(new Response("upstream", { status: 502 }));
  try {
    assertStringIncludes(await (await own.get(link)).text(), "Stop reminder emails?");
    assertEquals((await own.post(link, {})).status, 200);
  } finally {
    pages.provider.failure = undefined;
  }
  assertEquals(await isReminded(books), { email_enabled: false, mails: "mine" });
});

Deno.test("a person turns off one organization, and can turn it on again", async () => {
  const books = await openBooks(database);
  assertEquals((await pages.browser().post(await linkOf(books.userId), { scope: books.organizationId })).status, 200);
  assertEquals(await isReminded(books), { email_enabled: true, mails: "none" });
  const resume = {
    user_id: books.userId,
    organization_id: books.organizationId,
    mails: "mine",
    at: "2026-11-20T10:00:00Z",
  };
  assertEquals(await database.asService("choose_mails", resume), { outcome: "chosen" });
  assertEquals(await isReminded(books), { email_enabled: true, mails: "mine" });
});

Deno.test("the signed-in owner turns off one of their bills, as a change that the assistant can undo", async () => {
  const books = await openBooks(database);
  const other = await openBooks(database);
  const { bill: foreign } = await other.ok("add_bill", {
    name: "Somebody else's",
    amount: "10",
    first_due: "2026-12-01",
  });
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-12-01" });
  const own = await owner(books);
  const asked = await (await own.get(await linkOf(books.userId))).text();
  assertStringIncludes(asked, `value="${bill.id}"`);
  assert(!asked.includes("Somebody else"));
  const remindersOf = async (id = bill.id) =>
    (await database.query("select reminder_enabled from app.expenses where id = $1", [id]))[0];
  assertEquals((await own.submit(asked, "Unsubscribe", { scope: foreign.id })).status, 400);
  assertEquals(await remindersOf(foreign.id), { reminder_enabled: true });
  assertEquals((await own.submit(asked, "Unsubscribe", { scope: bill.id })).status, 200);
  assertEquals(await remindersOf(), { reminder_enabled: false });
  const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
  assertEquals(change.summary, "Turned off reminders for Rent");
  await books.ok("undo_change", { change_id: change.change_id });
  assertEquals(await remindersOf(), { reminder_enabled: true });
});

Deno.test("a forged, foreign or damaged link does nothing", async () => {
  const books = await openBooks(database);
  const other = await openBooks(database);
  const link = await linkOf(books.userId);
  const forged = await signUnsubscribing(["another-secret-of-more-than-32-bytes"], {
    userId: books.userId,
    sentOn: "2026-11-20",
  });
  const refused = [
    "/email/unsubscribe",
    "/email/unsubscribe?t=",
    `${link}x`,
    link.slice(0, -2),
    `/email/unsubscribe?t=${forged}`,
    await linkOf(crypto.randomUUID()),
  ];
  for (const path of refused) {
    const response = await pages.browser().post(path, { "List-Unsubscribe": "One-Click" });
    assertEquals(response.status, 400, path);
    assertStringIncludes(await response.text(), "Nothing was changed");
  }
  const foreign = await pages.browser().post(link, { scope: other.organizationId });
  assertEquals(foreign.status, 400);
  for (const one of [books, other]) {
    assertEquals(await isReminded(one), { email_enabled: true, mails: "mine" });
  }
  assert(!pages.log.join("").includes(link.split("t=")[1]!));
});
