/** The job as the scheduler sees it: authentication, the month, the answer, and the effects. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { MonthRequest } from "../../../shared/providers/provider.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import { type Books, type Json, openBooks } from "../../_support/books.ts";
import { openDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import {
  addLink,
  amounts,
  createSync,
  fakeProvider,
  PREVIOUS_KEY,
  registryOf,
  SECRET,
  type SyncOptions,
  written,
} from "./harness.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());

const NOW = new Date("2026-10-02T06:00:00Z");
const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000);

/** Answers what a test sets, and records its requests. */
function scriptedProvider(key = "power") {
  const asked: { account: string; month: string }[] = [];
  const script = { amount: "84.20", currency: "EUR", error: undefined as Error | undefined };
  const provider = fakeProvider(key, ({ month, credential }: MonthRequest) => {
    asked.push({ account: credential.account!, month: month.start });
    if (script.error) throw script.error;
    return { amount: script.amount, currency: script.currency };
  });
  return { provider, asked, script };
}

const job = (options: Partial<SyncOptions> = {}) =>
  createSync({ database: asDatabase(database), now: () => NOW, ...options });

async function addBill(books: Books, name = "Power", firstDue = "2026-10-25"): Promise<string> {
  const { bill } = await books.ok("add_bill", { name, amount_mode: "variable", first_due: firstDue });
  return bill.id;
}

/** An organization with one connected bill. */
async function setUp(key = "power", link: { credential?: Record<string, string> | null; key?: string } = {}) {
  await database.reset();
  const power = scriptedProvider(key);
  const books = await openBooks(database, { day: "2026-10-01" });
  const billId = await addBill(books);
  const linkId = await addLink(database, { organizationId: books.organizationId, billId, provider: key, ...link });
  return { ...power, registry: registryOf(power.provider), books, billId, linkId };
}

Deno.test("a run without links answers exactly the fields of the source document", async () => {
  await database.reset();
  assertEquals(await job().run(), { ok: true, period: "2026-09-01", links: 0, synced: 0, errors: [] });
});

Deno.test("a missing or wrong secret, and an invalid or unfinished month, are refused before any work", async () => {
  let calls = 0;
  const { request } = job({ database: { call: () => Promise.reject(new Error(`called ${++calls}`)) } });
  const refused: [string, HeadersInit][] = [
    ["", {}],
    ["?secret=", {}],
    ["?secret=wrong&period=2026-09", {}],
    ["", { authorization: SECRET }],
    ["?period=nonsense", { authorization: "Bearer wrong" }],
  ];
  for (const [query, headers] of refused) {
    const response = await request(`/api/cron/provider-sync${query}`, { headers });
    assertEquals([response.status, (await response.json()).error.code], [401, "unauthorized"], query);
  }
  const headers = { authorization: `Bearer ${SECRET}` };
  const months = [
    ...["", "2026", "2026-9", "2026-13", "2026-00", "2026-09-02", "2026-09-01T00:00:00Z", "09-2026", "1026-09"],
    ...["2026-10", "2026-10-01", "2026-11", "2027-01", "2026-09&period=2026-08", "2026-09%0a", "previous"],
  ];
  for (const month of months) {
    const response = await request(`/api/cron/provider-sync?period=${month}`, { headers });
    assertEquals([response.status, (await response.json()).error.code], [400, "invalid_request"], month);
  }
  assertEquals(calls, 0);
  assertEquals((await request("/api/cron/provider-sync", { method: "POST", headers })).status, 405);
});

Deno.test("an unreachable database is 503", async () => {
  const { request } = job({
    database: {
      call: async () => {
        const { AppError } = await import("../../../shared/errors.ts");
        throw new AppError("unavailable", "The service cannot reach its database.");
      },
    },
  });
  const response = await request(`/functions/v1/cron-provider-sync?secret=${SECRET}`);
  assertEquals([response.status, (await response.json()).error.code], [503, "unavailable"]);
});

Deno.test("last month's amount is fetched once and becomes this month's, as a separate change", async () => {
  const { registry, asked, books, billId } = await setUp();
  const sync = job({ registry });
  assertEquals(await sync.run(), { ok: true, period: "2026-09-01", links: 1, synced: 1, errors: [] });
  assertEquals(asked, [{ account: "acme", month: "2026-09-01" }]);
  assertEquals(await amounts(database), ["2026-10-25 84.20 provider"]);
  assertEquals((await books.ok("list_bills", { bill_id: billId })).bills[0].provider, {
    name: "The power company",
    status: "active",
  });
  const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
  assertEquals([change.summary, change.by], [
    "Fetched from The power company: Power due 2026-10-25 is 84.20 EUR.",
    "automatic",
  ]);
  assertEquals(
    await database.query("select job, period::text, stage, status, counts from jobs.job_runs"),
    [{
      job: "provider-sync",
      period: "2026-09-01",
      stage: "sync",
      status: "ok",
      counts: { links: 1, synced: 1, updated: 1 },
    }],
  );

  const before = await written(database);
  const again = job({ registry, now: () => later(1) });
  assertEquals((await again.run()).synced, 1);
  assertEquals(asked.length, 1, "what is kept is not asked for by the schedule");
  assertEquals((await again.run("2026-09")).synced, 1);
  assertEquals((await job({ registry, now: () => later(2) }).run("2026-09-01")).synced, 1);
  assertEquals(asked.length, 3, "whoever names the month asks again");
  assertEquals(await written(database), before);
});

Deno.test("the tool fetches the same statement, but nothing within an hour of the job", async () => {
  const { registry, books, billId } = await setUp();
  await job({ registry }).run();
  books.goTo("2026-10-02");
  await database.query("update app.provider_links set asked_at = '2026-10-02T11:30:00Z'");
  const soon = await books.ok("sync_bill_amounts");
  assertEquals([soon.pending, soon.bills[0].status], [[], "unchanged"]);
  books.goTo("2026-10-03");
  const { pending: [link] } = await books.ok("sync_bill_amounts", { bill_ids: [billId] });
  assertEquals([link.period, link.provider_key], ["2026-09-01", "power"]);
});

Deno.test("a past month is fetched for the date due after it, and once paid it stays unchanged", async () => {
  const { registry, script, books, billId } = await setUp();
  await books.ok("update_bill", { bill_id: billId, set: { first_due: "2026-10-25" } });
  books.goTo("2026-12-05");
  await books.ok("mark_bill_paid", { bill_id: billId, due_on: "2026-10-25", amount: "80", paid_on: "2026-10-25" });
  const now = () => new Date("2026-12-06T06:00:00Z");
  script.amount = "90";
  const answer = await job({ registry, now }).run("2026-09");
  assertEquals([answer.period, answer.synced], ["2026-09-01", 1]);
  assertEquals(await amounts(database), ["2026-11-25 - rule", "2026-12-25 - rule"]);
  assertEquals(
    await database.query(
      "select expected_minor::int as minor, paid_minor::int as paid from app.expense_occurrences where status = 'paid'",
    ),
    [{ minor: 8000, paid: 8000 }],
  );
  const [finding] = (await books.ok("review_bills")).provider_attention;
  assertEquals(finding.needs_review, { due_on: "2026-10-25", amount: "90.00", currency: "EUR", reason: "paid" });
  await job({ registry, now: () => new Date("2026-12-06T06:01:00Z") }).run("2026-10");
  assertEquals(await amounts(database), ["2026-11-25 90.00 provider", "2026-12-25 - rule"]);
});

Deno.test("where it is still the previous month, the new month's date is found anyway", async () => {
  await database.reset();
  const registry = registryOf(scriptedProvider().provider);
  const books = await openBooks(database, { day: "2026-10-20", timezone: "Pacific/Honolulu" });
  const billId = await addBill(books, "Power", "2026-10-30");
  await addLink(database, { organizationId: books.organizationId, billId, provider: "power" });
  // It is 30 November there, on which a date is due.
  await job({ registry, now: () => new Date("2026-12-01T06:00:00Z") }).run();
  assertEquals(await amounts(database), ["2026-10-30 - rule", "2026-11-30 - rule", "2026-12-30 84.20 provider"]);
});

Deno.test("a corrected statement replaces the first, and a jump is left to a person", async () => {
  const { registry, script, books, billId } = await setUp();
  await job({ registry }).run();
  script.amount = "90";
  await job({ registry, now: () => later(1) }).run("2026-09");
  assertEquals(await amounts(database), ["2026-10-25 90.00 provider"]);
  books.goTo("2026-10-05");
  await books.ok("mark_bill_paid", { bill_id: billId });
  script.amount = "500";
  const november = () => new Date("2026-11-02T06:00:00Z");
  assertEquals((await job({ registry, now: november }).run()).synced, 1);
  assertEquals(await amounts(database), ["2026-11-25 - rule"]);
  books.goTo("2026-11-03");
  assertEquals((await books.ok("list_bills", { bill_id: billId })).bills[0].provider.needs_review.usual, "90.00");
  assertEquals(
    await database.query(
      "select period::text, amount_minor::int as minor, status from app.provider_statements order by period, fetched_at",
    ),
    [
      { period: "2026-09-01", minor: 8420, status: "superseded" },
      { period: "2026-09-01", minor: 9000, status: "applied" },
      { period: "2026-10-01", minor: 50000, status: "needs_review" },
    ],
  );
});

Deno.test("a recreated date gets its predecessor's amount back on the next run", async () => {
  const rescheduled: Json[][] = [[{ status: "paused" }, { status: "active" }], [{ first_due: "2026-10-20" }]];
  for (const sets of rescheduled) {
    const { registry, asked, books, billId } = await setUp();
    await job({ registry }).run();
    books.goTo("2026-10-02");
    for (const set of sets) await books.ok("update_bill", { bill_id: billId, set });
    assertStringIncludes((await amounts(database)).join(), " - rule");
    assertEquals((await job({ registry, now: () => later(1) }).run()).synced, 1);
    const found = await amounts(database);
    assert(found.length === 1 && found[0]!.endsWith(" 84.20 provider"), String(found));
    await job({ registry, now: () => later(2) }).run();
    assertEquals(asked.length, 2, "then it has its date and is not asked for");
  }
});

Deno.test("a bill made fixed while its provider is being called keeps its amount", async () => {
  const { books, billId } = await setUp();
  const slow = fakeProvider("power", async () => {
    await books.ok("update_bill", { bill_id: billId, set: { amount_mode: "fixed", amount: "50" } });
    return { amount: "84.20", currency: "EUR" };
  });
  assertEquals((await job({ registry: registryOf(slow) }).run()).errors, []);
  assertEquals(await amounts(database), ["2026-10-25 50.00 rule"]);
  assertEquals((await books.ok("review_bills")).counts.provider_attention, 0);
});

Deno.test("an undone amount stays undone, however often the job runs", async () => {
  const { registry, books, billId } = await setUp();
  await job({ registry }).run();
  books.goTo("2026-10-02");
  const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
  await books.ok("undo_change", { change_id: change.change_id });
  await job({ registry, now: () => later(1) }).run();
  await job({ registry, now: () => later(1) }).run("2026-09");
  assertEquals(await amounts(database), ["2026-10-25 - rule"]);
  await books.ok("update_bill", { bill_id: billId, set: { note: "Meter in the cellar" } });
  const undone = await books.ok("undo_change");
  assertEquals(undone.undone.summary, "Changed Power: note", "the latest change of a person is their own");
});

Deno.test("not ready is never an amount: it is retried daily, and missed after the 10th", async () => {
  const { registry, script, asked, books } = await setUp();
  script.error = new ProviderError("not_ready", "Not yet");
  for (let day = 0; day < 9; day++) {
    const answer = await job({ registry, now: () => later(day) }).run();
    assertEquals([answer.ok, answer.synced, answer.errors.map(({ code, count }) => [code, count])], [
      true,
      0,
      [["not_ready", 1]],
    ]);
  }
  assertEquals(asked.length, 9);
  assertEquals(await amounts(database), ["2026-10-25 - rule"]);
  books.goTo("2026-10-10");
  assertEquals((await books.ok("review_bills")).counts.provider_attention, 0);
  books.goTo("2026-10-11");
  const [finding] = (await books.ok("review_bills")).provider_attention;
  assertEquals([finding.kind, finding.text], [
    "amount_missing",
    "The amount of Power is missing: The power company has no statement for September 2026.",
  ]);
});

Deno.test("a refused credential stops fetching at once; reconnecting starts it again", async () => {
  const { registry, script, asked, linkId } = await setUp();
  script.error = new ProviderError("auth", "No");
  const first = await job({ registry }).run();
  assertEquals(first.errors, [{
    stage: "sync",
    code: "auth",
    message: "A provider no longer accepts the credential; the owner has to reconnect the bill.",
    ref: linkId,
    count: 1,
  }]);
  assertEquals(await database.query("select status from app.provider_links"), [{ status: "needs_reauth" }]);
  await job({ registry, now: () => later(1) }).run();
  assertEquals(asked.length, 1);
  script.error = undefined;
  await database.query("update app.provider_links set status = 'active', asked_at = null");
  assertEquals((await job({ registry, now: () => later(1) }).run()).synced, 1);
});

Deno.test("a pause requested by a provider is kept", async () => {
  const { registry, script, asked } = await setUp();
  script.error = new ProviderError("rate_limited", "Slow down", 3 * 3600);
  await job({ registry }).run();
  script.error = undefined;
  const hours = (count: number) => () => later(count / 24);
  await job({ registry, now: hours(2.9) }).run();
  assertEquals(asked.length, 1);
  assertEquals((await job({ registry, now: hours(3) }).run()).synced, 1);
});

Deno.test("a one-day pause ends before the next day's run, which starts slightly earlier", async () => {
  const { registry, script } = await setUp();
  script.error = new ProviderError("rate_limited", "Slow down", 86_400);
  await job({ registry }).run();
  script.error = undefined;
  assertEquals((await job({ registry, now: () => later(1 - 1 / 86_400) }).run()).synced, 1);
});

Deno.test("links are counted unless they have ended; only eligible ones are fetched", async () => {
  const { registry, asked, books } = await setUp();
  const poor = await openBooks(database, { day: "2026-10-01" });
  const connect = async (owner: Books, name: string, status: string) =>
    await addLink(database, {
      organizationId: owner.organizationId,
      billId: await addBill(owner, name),
      provider: "power",
      credential: { account: name },
      status,
    });
  for (const status of ["pending", "needs_reauth", "paused", "revoked"]) await connect(books, status, status);
  await connect(poor, "without the plan", "active");
  const paused = await connect(books, "paused bill", "active");
  await database.query("update app.expenses set status = 'paused' where name = 'paused bill'");
  await database.query("update identity.organizations set plan = 'pro' where id = $1", [poor.organizationId]);
  // A statement that came while the plan still included it does not count either.
  await database.query(
    `insert into app.provider_statements (organization_id, link_id, period, amount_minor, currency, payload_sha256, status, reason, fetched_at)
     select organization_id, id, '2026-09-01', 1, 'EUR', repeat('0', 64), 'ignored', 'not_due', now() from app.provider_links where organization_id = $1`,
    [poor.organizationId],
  );
  const answer = await job({ registry }).run();
  assertEquals([answer.links, answer.synced, asked], [6, 1, [{ account: "acme", month: "2026-09-01" }]]);
  assert(paused);
});

Deno.test("a credential under an earlier key is opened and resealed; a moved or lost one is not", async () => {
  const { registry, linkId, asked } = await setUp("power", { key: PREVIOUS_KEY });
  const keyIds = () =>
    database.query<{ key_id: string }>("select envelope ->> 'key_id' as key_id from app.provider_credentials");
  const [old] = await keyIds();
  const env = { CREDENTIALS_KEY: `${btoa("k".repeat(32))},${PREVIOUS_KEY}` };
  assertEquals((await job({ registry, env }).run()).synced, 1);
  const [fresh] = await keyIds();
  assert(old!.key_id !== fresh!.key_id);
  assertEquals(
    (await job({ registry, now: () => later(1) }).run("2026-09")).errors,
    [],
    "the first key alone opens it now",
  );

  const other = await openBooks(database, { day: "2026-10-01" });
  const moved = await addLink(database, {
    organizationId: other.organizationId,
    billId: await addBill(other),
    provider: "power",
    credential: null,
  });
  await database.query(
    "insert into app.provider_credentials (link_id, envelope, updated_at) select $1, envelope, now() from app.provider_credentials where link_id = $2",
    [moved, linkId],
  );
  const answer = await job({ registry, now: () => later(2) }).run();
  assertEquals(answer.errors.map(({ code, ref }) => [code, ref]), [["unreadable_credential", moved]]);
  assertEquals(asked.length, 2);
  await database.query("delete from app.provider_credentials where link_id = $1", [moved]);
  assertEquals((await job({ registry, now: () => later(3) }).run()).errors.map(({ code }) => code), ["auth"]);
});

Deno.test("the job's answer and log contain no secret, even when an adapter throws", async () => {
  const canary = "c4nary-of-the-job";
  const { linkId } = await setUp("power", { credential: { account: canary } });
  const broken = fakeProvider("power", ({ credential }) => {
    throw new TypeError(`Invalid URL: https://x/?key=${credential.account}`, { cause: new Error(credential.account) });
  });
  const sync = job({ registry: registryOf(broken) });
  const answer = await sync.run();
  assertEquals(answer.errors.map(({ code, ref }) => [code, ref]), [["defect", linkId]]);
  const ours = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('app', 'identity', 'oauth', 'billing', 'jobs', 'cron', 'net')`,
  );
  const dump = await Promise.all(ours.map(({ name }) => database.query(`select * from ${name}`)));
  const said = JSON.stringify([answer, dump]) + sync.lines.join("\n");
  assert(said.includes("aes-gcm-hkdf") && !said.includes(canary) && !said.includes(btoa(canary)));
  assertStringIncludes(sync.lines.join("\n"), "provider_defect");
});
