/** Ending reminders from a mail: by a person, by a mail program, and by nobody else. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { signUnsubscribing } from "../../../shared/reminders/unsubscribe_token.ts";
import { type Books, openBooks } from "../../_support/books.ts";
import { openDatabase } from "../../_support/database.ts";
import { createPages, formsOf, over } from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());
const pages = createPages(over(database));

const linkOf = async (ownerId: string, scope = "all") =>
  `/email/unsubscribe?t=${await signUnsubscribing(pages.config.codeSecrets, { ownerId, scope })}`;

async function isReminded(books: Books) {
  const [row] = await database.query<Record<string, boolean>>(
    `select p.email_enabled, o.reminders_enabled from identity.organizations as o
     join identity.profiles as p on p.user_id = o.owner_id where o.id = $1`,
    [books.organizationId],
  );
  return row;
}

const ONE_CLICK = "List-Unsubscribe=One-Click";

Deno.test("opening the link asks and changes nothing, however often a scanner does it", async () => {
  const books = await openBooks(database);
  const link = await linkOf(books.userId);
  for (const method of ["GET", "HEAD", "GET"]) {
    const response = await pages.app.request(`https://expenses.example${link}`, { method });
    assertEquals(response.status, 200);
    if (method === "GET") assertEquals(formsOf(await response.text())[0]!.fields, { scope: "all" });
  }
  assertEquals(await isReminded(books), { email_enabled: true, reminders_enabled: true });
});

Deno.test("one click of a mail program ends all reminders: either form encoding, from anywhere, without a session", async () => {
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
    assertStringIncludes(await response.text(), "Done: no more reminder mails");
    assertEquals(await isReminded(books), { email_enabled: false, reminders_enabled: true });
  }
});

Deno.test("a person chooses one organization, and takes it back on the account page's function", async () => {
  const books = await openBooks(database);
  const post = async (scope: string, from = "all") =>
    await pages.browser().post(await linkOf(books.userId, from), { scope });
  assertEquals((await post(books.organizationId)).status, 200);
  assertEquals(await isReminded(books), { email_enabled: true, reminders_enabled: false });
  const resume = { user_id: books.userId, organization_id: books.organizationId, at: "2026-11-20T10:00:00Z" };
  assertEquals(await database.asService("resume_reminders", resume), { outcome: "resumed" });
  assertEquals(await isReminded(books), { email_enabled: true, reminders_enabled: true });
});

Deno.test("a person chooses one bill, as a change that the assistant can undo", async () => {
  const books = await openBooks(database);
  const { bill } = await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-12-01" });
  const asked = await (await pages.browser().get(await linkOf(books.userId))).text();
  assertStringIncludes(asked, `value="${bill.id}"`);
  assertEquals((await pages.browser().post(await linkOf(books.userId), { scope: bill.id })).status, 200);
  const remindersOf = async () =>
    (await database.query("select reminder_enabled from app.expenses where id = $1", [bill.id]))[0];
  assertEquals(await remindersOf(), { reminder_enabled: false });
  const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
  assertEquals(change.summary, "Turned off the reminders of Rent");
  await books.ok("undo_change", { change_id: change.change_id });
  assertEquals(await remindersOf(), { reminder_enabled: true });
});

Deno.test("a narrow link ends what it names and nothing wider", async () => {
  const books = await openBooks(database);
  const link = await linkOf(books.userId, books.organizationId);
  assertStringIncludes(await (await pages.browser().get(link)).text(), "Household");
  assertEquals((await pages.browser().post(link, { scope: "all" })).status, 200);
  assertEquals(await isReminded(books), { email_enabled: true, reminders_enabled: false });
});

Deno.test("a false, foreign or mangled link does nothing", async () => {
  const books = await openBooks(database);
  const other = await openBooks(database);
  const link = await linkOf(books.userId);
  const forged = await signUnsubscribing(["another-secret-of-more-than-32-bytes"], {
    ownerId: books.userId,
    scope: "all",
  });
  const refused = [
    "/email/unsubscribe",
    "/email/unsubscribe?t=",
    `${link}x`,
    link.slice(0, -2),
    `/email/unsubscribe?t=${forged}`,
    await linkOf(books.userId, other.organizationId),
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
    assertEquals(await isReminded(one), { email_enabled: true, reminders_enabled: true });
  }
  assert(!pages.log.join("").includes(link.split("t=")[1]!));
});
