/** The digest's lines about fetched amounts, rejected amounts, and links that wait for their owner. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Statement } from "../../../shared/providers/provider.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import { type Books, openBooks } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { asDatabase, createJob, ecbXml, mailService, SITE, withRates } from "../cron-reminders/harness.ts";
import { addLink, createSync, fakeProvider, registryOf } from "./harness.ts";

const database = await sharedDatabase();

/** A bill in euros, due on 5 November, that cost 61 in October. */
async function setUp() {
  await database.reset();
  const books = await openBooks(database, { day: "2026-10-01", timezone: "Europe/Berlin" });
  const add = async (name: string) =>
    (await books.ok("add_bill", { name, amount_mode: "variable", first_due: "2026-10-05" })).bill.id as string;
  const billId = await add("Cloud hosting");
  books.goTo("2026-10-05");
  await books.ok("mark_bill_paid", { bill_id: billId, amount: "61" });
  const linkId = await addLink(database, { organizationId: books.organizationId, billId, provider: "digitalocean" });
  return { books, billId, linkId, add };
}

/** The job on 2 November, at 06:00 UTC. */
const sync = (say: () => Omit<Statement, "pages">) =>
  createSync({
    database: asDatabase(database),
    registry: registryOf({ ...fakeProvider("digitalocean", say), name: "DigitalOcean" }),
    now: () => new Date("2026-11-02T06:00:00Z"),
  }).run();

async function mails(day = "2026-11-02") {
  const mail = mailService();
  await createJob({
    database: asDatabase(database),
    fetch: withRates(mail.fetch, { ecb: () => new Response(ecbXml("2026-10-30")) }),
    now: () => new Date(`${day}T08:00:00Z`),
  }).run();
  return mail.delivered;
}

Deno.test("the digest shows a fetched amount with its date and difference from usual, and the totals include it once paid", async () => {
  const { books, billId } = await setUp();
  assertEquals((await sync(() => ({ amount: "84.18", currency: "EUR" }))).synced, 1);
  const [mail] = await mails();
  const said = "from DigitalOcean on 2 Nov, 38\u00a0% above usual";
  assertStringIncludes(mail!.text, `Cloud hosting  Thursday, 5 November  in 3 days  €84.18\n    ${said}\n`);
  assertStringIncludes(mail!.html, said);

  books.goTo("2026-11-05");
  const { payment } = await books.ok("mark_bill_paid", { bill_id: billId });
  assertEquals(payment.amount, "84.18");
  const { total } = await books.ok("summarize_spending", { period: "this_month" });
  assertEquals([total.amount, total.count], ["84.18", 1]);
});

Deno.test("an amount that was not accepted is shown beside the bill until a person decides", async () => {
  const { books, billId } = await setUp();
  await sync(() => ({ amount: "212.40", currency: "EUR" }));
  const [mail] = await mails();
  assertStringIncludes(
    mail!.text,
    "    amount not known yet, last time €61.00; DigitalOcean reported €212.40 on 2 Nov, 248\u00a0% above usual: please check\n",
  );
  books.goTo("2026-11-03");
  await books.ok("update_bill", {
    bill_id: billId,
    occurrence: { action: "set_amount", due_on: "2026-11-05", amount: "212.40" },
  });
  await database.exec("delete from jobs.reminder_digests where true");
  const [answered] = await mails("2026-11-03");
  assertStringIncludes(answered!.text, "€212.40");
  assert(!answered!.text.includes("DigitalOcean"));
});

Deno.test("an amount that returned to its earlier value is shown as fetched", async () => {
  const { books, billId } = await setUp();
  const date = { due_on: "2026-11-05" };
  const change = (action: string) => books.ok("update_bill", { bill_id: billId, occurrence: { ...date, action } });
  await sync(() => ({ amount: "62", currency: "EUR" }));
  books.goTo("2026-11-02");
  await change("skip");
  for (const [minute, amount] of ["63", "62"].entries()) {
    await createSync({
      database: asDatabase(database),
      registry: registryOf({
        ...fakeProvider("digitalocean", () => ({ amount, currency: "EUR" })),
        name: "DigitalOcean",
      }),
      now: () => new Date(`2026-11-02T07:0${minute}:00Z`),
    }).run("2026-10");
  }
  await change("reopen");
  assertStringIncludes((await mails())[0]!.text, "€62.00\n    from DigitalOcean on 2 Nov");
});

Deno.test("a provider's open question ends once the bill is connected to another provider", async () => {
  const { books, billId } = await setUp();
  await sync(() => ({ amount: "212.40", currency: "EUR" }));
  await database.query("update app.provider_links set status = 'revoked'");
  await addLink(database, { organizationId: books.organizationId, billId, provider: "digitalocean" });
  assert(!(await mails())[0]!.text.includes("please check"));
  await database.exec("delete from jobs.reminder_digests where true");
  await sync(() => ({ amount: "62", currency: "EUR" }));
  assertStringIncludes((await mails("2026-11-03"))[0]!.text, "€62.00\n    from DigitalOcean on 2 Nov");
});

Deno.test("hiding amounts in mails hides provider amounts too", async () => {
  await setUp();
  await sync(() => ({ amount: "84.18", currency: "EUR" }));
  await database.query("update identity.profiles set hide_amounts_in_email = true");
  const [mail] = await mails();
  for (const part of [mail!.text, mail!.html]) assert(!/(84|61)\.\d|usual/.test(part), part);
});

Deno.test("a link waiting for its owner is a line with a reconnect URL; alone it sends nothing", async () => {
  const { books, billId, add } = await setUp();
  await books.ok("update_bill", { bill_id: billId, set: { reminder_enabled: false } });
  await sync(() => {
    throw new ProviderError("auth", "No");
  });
  assertEquals(await mails(), []);
  const rent = await add("Rent");
  books.goTo("2026-11-02");
  await books.ok("update_bill", { bill_id: rent, set: { reminder_enabled: true } });
  const [mail] = await mails();
  assertStringIncludes(mail!.text, "  Rent  ");
  assertStringIncludes(
    mail!.text,
    "“Cloud hosting”: DigitalOcean no longer accepts our key, so we can’t fetch the amount.\n" +
      `Reconnect: ${SITE}/account/providers/connect?bill=${billId}&provider=digitalocean\n`,
  );
  for (
    const change of [
      "update app.provider_links set status = 'active'",
      "update app.provider_links set status = 'needs_reauth'; update identity.organizations set plan = 'pro'",
      `update identity.organizations set plan = 'team'; update app.expenses set amount_mode = 'fixed', amount_minor = 500 where id = '${billId}'`,
    ]
  ) {
    await database.exec(`${change}; delete from jobs.reminder_digests where true`);
    const [again] = await mails();
    assert(again!.text.includes("Rent") && !again!.text.includes("Reconnect"), change);
  }
});

Deno.test("list_bills and review_bills show no provider key", async () => {
  const { books, billId } = await setUp();
  await sync(() => ({ amount: "212.40", currency: "EUR" }));
  books.goTo("2026-11-03");
  const said = async (books: Books) =>
    JSON.stringify([
      await books.ok("list_bills", { bill_id: billId }),
      await books.ok("review_bills"),
      await books.ok("get_context", { include: ["provider_links", "recent_changes"] }),
    ]);
  assert((await said(books)).includes("DigitalOcean"));
  assert(!(await said(books)).includes("digitalocean"));
});
