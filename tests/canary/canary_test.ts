/**
 * Functions that run as the service bypass row-level security, so only their filters protect other organizations. A
 * canary marks all data of a second organization. No page, call or mail of the first organization's people returns a
 * canary or changes a row of the second. Each kind of call has a table, and a test fails when a new call is missing
 * from it.
 */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";
import { checkFunctions, difference } from "./functions.ts";
import { checkPages } from "./pages.ts";
import { dump, leaksIn, NOW, openTenants, WORD } from "./tenants.ts";
import { checkTools } from "./tools.ts";

const database = await sharedDatabase();

async function fresh() {
  await database.reset();
  return await openTenants(database);
}

Deno.test("every text and amount that can hold the canary contains it", async () => {
  const { words, amounts } = await fresh();
  const list = `${words.join(" ")}\n${amounts.join(" ")}`;
  const expected = [
    "app.accounts.name",
    "app.categories.name",
    "app.change_items.after",
    "app.change_sets.client_name",
    "app.change_sets.facts",
    "app.expenses.name",
    "app.expenses.note",
    "app.expenses.payee",
    "app.expenses.tags",
    "app.import_batches.file",
    "app.import_batches.read",
    "app.import_rows.item",
    "app.provider_links.account_label",
    "app.statement_lines.text",
    "identity.audit_events.detail",
    "identity.organizations.name",
    "identity.profiles.email",
    "identity.profiles.reminder_email",
    "jobs.reminder_digests.content",
    "oauth.grants.redirect_uri",
  ];
  assertEquals(expected.filter((column) => !words.includes(column)), [], list);
  assert(words.length >= 35, list);
  assertEquals(
    ["app.expenses.amount_minor", "app.expense_occurrences.expected_minor", "app.payments.amount_minor"]
      .filter((column) => !amounts.includes(column)),
    [],
    list,
  );
  assert(amounts.length >= 5, list);
});

Deno.test("test of the test: the search finds only words, amounts, sums with them, and ids", () => {
  const tenants = { ids: ["org_00000000001a"] };
  for (const text of [`A ${WORD} b`, `x${WORD.toLowerCase()}@y`, "8484848484", "€84,848,584.84", "org_00000000001a"]) {
    assert(leaksIn(text, tenants).length > 0, text);
  }
  assertEquals(leaksIn("Rent 1,000.00 of org_00000000000a at 2026-11-20T10:00:00.00Z", tenants), []);
  assertEquals(leaksIn("there is no org_00000000001a", tenants, '{"id":"org_00000000001a"}'), []);
});

Deno.test("no function of schema public leaks the canary or changes its rows", async () => {
  assertEquals(await checkFunctions(database, await fresh()), []);
});

Deno.test("no tool leaks the canary or changes its rows", async () => {
  assertEquals(await checkTools(database, await fresh()), []);
});

Deno.test("no tool of a read-only app leaks the canary or changes a row", async () => {
  assertEquals(await checkTools(database, await fresh(), "read"), []);
});

Deno.test("no page leaks the canary or changes its rows, for any visitor", async () => {
  const { findings, seen } = await checkPages(database, await fresh());
  assertEquals(findings, []);
  // Test of the test: the pages show the first organization's own data.
  const shown = [
    "an owner /account 200",
    "an owner /account/providers/connect 200",
    "an owner /account/providers/remove 200",
    "a member /account 200",
    "a member /account/disconnect 200",
    "a member whose apps may only read /account 200",
    "a member whose apps may only read /account/access 200",
    "an owner /organizations/new 200",
    "an owner /organizations/org_00000000000a/members 200",
    "an owner /organizations/org_00000000000a/members/remove 200",
    "an owner /organizations/org_00000000000a/hand-over 200",
    "a member /organizations/org_00000000000a/members 200",
    "somebody without an organization /invitation 403",
    "somebody without an organization /onboarding 200",
    "member@first.example /api/oauth/authorize 200",
  ];
  for (const page of shown) {
    assert(seen.includes(page), seen.join("\n"));
  }
});

Deno.test("no mail to the first organization contains data of the second", async () => {
  const tenants = await fresh();
  const { first } = tenants;
  // The tables that the job writes for all recipients; no other table may change.
  const own = [
    "jobs.reminder_digests",
    "jobs.reminder_log",
    "jobs.notice_log",
    "app.expense_occurrences",
    "app.expenses",
  ];
  const before = await dump(database, tenants, own);
  const mail = mailService();
  const job = createJob({ database: asDatabase(database), fetch: withRates(mail.fetch), now: () => new Date(NOW) });
  await job.run();
  const mine = mail.delivered.filter(({ to }) => to === first.ownerEmail);
  const others = mail.delivered.filter(({ to }) => to !== first.ownerEmail);
  assertEquals([mine.length, others.length], [1, 1]);
  assert(mine[0]!.text.includes("Phone") && mine[0]!.text.includes("Power"), mine[0]!.text);
  assertEquals(leaksIn(JSON.stringify(mine), tenants), []);
  // Test of the test: the search can find the canary.
  const told = leaksIn(JSON.stringify(others), tenants);
  assert(told.includes(WORD) && told.some((leak) => /\d\.\d\d$/.test(leak)), told.join());
  assert(others[0]!.to.includes(WORD), others[0]!.to);
  assertEquals(leaksIn(job.lines.join("\n"), { ids: [] }), []);
  assertEquals(difference(before, await dump(database, tenants, own)), []);
});
