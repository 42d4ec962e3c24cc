/**
 * Concurrent fetching of amounts, each caller in its own session: two jobs, the job and the tool, a simultaneous
 * payment.
 */
import { assert, assertEquals } from "@std/assert";
import { deliver, PLANS } from "../_support/billing.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, sharedDatabase, type TestDatabase } from "../_support/database.ts";
import { waitFor } from "../_support/wait_for.ts";
import { asDatabase } from "../functions/cron-reminders/harness.ts";
import { crashUntilDone } from "../functions/cron-provider-sync/crashes.ts";
import { addLink, createSync, fakeProvider, registryOf } from "../functions/cron-provider-sync/harness.ts";
import { addLinkedBills, fetched } from "../functions/cron-provider-sync/linked_bills.ts";
import { inLine, organizationOf } from "./in_line.ts";

const database = await sharedDatabase();

const NOW = new Date("2026-10-02T06:00:00Z");
const PERIOD = "2026-09-01";

/** Three jobs over the same links; counts the calls for each account. */
async function raceJobs(database: TestDatabase, links: number): Promise<number[]> {
  await addLinkedBills(
    database,
    Array.from({ length: links }, (_, index) => ({ provider: "power", credential: { account: String(index + 1) } })),
  );
  const asked = new Map<string, number>();
  const power = fakeProvider("power", async ({ credential: { account } }) => {
    asked.set(account!, (asked.get(account!) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return { amount: `${account}.50`, currency: "USD" };
  });
  const run = (period?: string) =>
    createSync({ database: asDatabase(database), registry: registryOf(power), now: () => NOW }).run(period);
  await Promise.all([run(), run(), run("2026-09")]);
  return [...asked.values()];
}

Deno.test("three concurrent jobs call each provider once, and store every amount once", async () => {
  await database.reset();
  assertEquals(await raceJobs(database, 90), Array(90).fill(1));
  const kept = await fetched(database);
  assertEquals(kept.size, 90);
  for (const [n, bill] of kept) assertEquals(bill, { amount: `${n}.50`, statements: 1 });
});

Deno.test("three concurrent jobs fetch each month of a backlog once, even if one dies", async () => {
  await database.reset();
  const links = 12;
  await addLinkedBills(
    database,
    Array.from({ length: links }, (_, index) => ({ provider: "power", credential: { account: String(index + 1) } })),
    { firstDue: "2025-10-25" },
  );
  await database.exec("select app.refresh_bill(id, '2026-10-02') from app.expenses");
  const asked = new Map<string, number>();
  const power = fakeProvider("power", async ({ credential: { account }, month }) => {
    const key = `${account} ${month.start}`;
    asked.set(key, (asked.get(key) ?? 0) + 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    return { amount: "80", currency: "USD" };
  });
  const run = (at: Date, kept = Infinity) => {
    const real = asDatabase(database);
    const dying: typeof real = {
      call: (name, args) => {
        if (name === "keep_provider_answer") kept--;
        return kept < 0 ? Promise.reject(new Error("killed")) : real.call(name, args);
      },
    };
    return createSync({ database: dying, registry: registryOf(power), now: () => at }).run();
  };
  await Promise.all([run(NOW), run(NOW), run(NOW, 20)]);
  // The leases of the dead job must expire.
  const later = new Date(NOW.getTime() + 2 * 60_000);
  await Promise.all([run(later), run(later)]);
  assertEquals(asked.size, links * 12);
  // The dead job had at most six unstored answers, and each was requested once more.
  const again = [...asked.values()].filter((count) => count > 1);
  assert(again.length <= 6 && again.every((count) => count === 2), String(again));
  const [kept] = await database.query(
    `select count(*)::int as statements, count(distinct (s.link_id, s.period))::int as months,
       bool_and(l.backlog = '{}' and l.lease_token is null) as done,
       (select count(*)::int from app.change_sets) as changes
     from app.provider_statements as s join app.provider_links as l on l.id = s.link_id`,
  );
  assertEquals(kept, { statements: links * 12, months: links * 12, done: true, changes: links * 12 });
});

Deno.test("test of the test: a claim without a lock calls twice", async () => {
  const planted = await openDatabase();
  try {
    const [row] = await planted.query<{ source: string }>(
      "select pg_get_functiondef('public.claim_provider_link'::regproc) as source",
    );
    assert(row!.source.includes("for update of c skip locked"));
    // A link that two jobs claim concurrently may have no period left.
    await planted.exec(
      row!.source.replace("for update of c skip locked", "")
        .replaceAll("case when again then", "case when true then"),
    );
    assert(Math.max(...await raceJobs(planted, 90)) > 1, "the planted race did not show");
  } finally {
    await planted.close();
  }
});

Deno.test("concurrent processes that die lose nothing", async () => {
  await database.reset();
  await crashUntilDone(database, { crashes: 18, parallel: 3 });
});

async function connectedBill(
  about: Json = { first_due: "2026-10-25" },
): Promise<{ books: Books; billId: string; linkId: string }> {
  const books = await openBooks(database, { day: "2026-10-01" });
  const { bill } = await books.ok("add_bill", { name: "Power", amount_mode: "variable", ...about });
  const linkId = await addLink(database, { organizationId: books.organizationId, billId: bill.id, provider: "power" });
  books.goTo("2026-10-02");
  return { books, billId: bill.id, linkId };
}
const claim = () =>
  database.asService<Json>("claim_provider_link", {
    period: PERIOD,
    again: false,
    before: "2026-10-02T12:00:00Z",
    at: "2026-10-02T12:00:00Z",
  });
const keep = (link: Json, amount: string, currency = "EUR") =>
  database.asService<Json>("keep_provider_answer", {
    link_id: link.link_id,
    lease_token: link.lease_token,
    period: PERIOD,
    answer: { outcome: "statement", amount, currency, provider_name: "Power" },
    at: "2026-10-02T12:00:05Z",
  });

Deno.test("with the job and the tool running concurrently, only one calls the provider", async () => {
  await database.reset();
  for (let round = 0; round < 15; round++) {
    const { books } = await connectedBill();
    const [claimed, first, second] = await Promise.all([
      claim(),
      books.ok("sync_bill_amounts"),
      books.ok("sync_bill_amounts"),
    ]);
    const leases = [claimed ? 1 : 0, first.pending?.length ?? 0, second.pending?.length ?? 0];
    assertEquals(leases.reduce((sum, count) => sum + count), 1, `round ${round}: ${leases}`);
    await database.query("update app.provider_links set status = 'paused'");
  }
});

Deno.test("one of many different amounts under one lease is stored", async () => {
  await database.reset();
  const { linkId } = await connectedBill();
  const link = await claim();
  const amounts = Array.from({ length: 10 }, (_, index) => `${80 + index}.00`);
  const answers = await Promise.all(amounts.map((amount) => keep(link, amount)));
  assertEquals(answers.filter(({ outcome }) => outcome === "kept").length, 1);
  const [state] = await database.query<{ same: boolean; statements: number }>(
    `select bool_and(s.amount_minor = o.expected_minor) as same, count(*)::int as statements
     from app.provider_statements as s join app.expense_occurrences as o on o.id = s.occurrence_id where s.link_id = $1`,
    [linkId],
  );
  assertEquals(state, { same: true, statements: 1 });
});

Deno.test("concurrent corrected statements through the tool leave one, which sets the amount", async () => {
  await database.reset();
  const { books, linkId } = await connectedBill();
  await keep(await claim(), "80");
  const store = async (amount: string) => {
    const token = crypto.randomUUID();
    await database.query("update app.provider_links set lease_token = $2 where id = $1", [linkId, token]);
    const answer = { outcome: "statement", amount, currency: "EUR" };
    return await books.call("store_bill_amounts", {
      results: [{ link_id: linkId, lease_token: token, period: PERIOD, answer }],
    });
  };
  for (let round = 0; round < 10; round++) {
    await Promise.all(["81", "82", "83", "80"].map(store));
    const [state] = await database.query(
      `select count(*)::int as counts, bool_and(s.amount_minor = o.expected_minor) as same
       from app.provider_statements as s join app.expense_occurrences as o on o.id = s.occurrence_id
       where s.link_id = $1 and s.status = 'applied'`,
      [linkId],
    );
    assertEquals(state, { counts: 1, same: true });
  }
});

Deno.test("an amount that arrives while the bill is paid never changes the paid amount", async () => {
  await database.reset();
  const seen = new Set<string>();
  for (let round = 0; round < 20; round++) {
    const { books, billId } = await connectedBill();
    const link = await claim();
    const pay = () => books.call("mark_bill_paid", { bill_id: billId, advance: true, amount: "80" });
    const kept = round % 2 ? undefined : keep(link, "90");
    const [paid] = await Promise.all([pay(), kept ?? keep(link, "90")]);
    assert(paid.ok, JSON.stringify(paid));
    const [state] = await database.query<{ status: string; expected: number; paid: number; said: string }>(
      `select o.status, o.expected_minor::int as expected, o.paid_minor::int as paid, s.status as said
       from app.expense_occurrences as o join app.provider_statements as s on s.occurrence_id = o.id where o.expense_id = $1`,
      [billId],
    );
    const { status, expected, paid: minor, said } = state!;
    seen.add(said);
    assertEquals(
      [status, expected, minor],
      said === "applied" ? ["open", 9000, 8000] : ["paid", 8000, 8000],
      `round ${round}: ${said}`,
    );
    await database.query("update app.provider_links set status = 'paused'");
  }
  assert(seen.size > 0);
});

Deno.test("an answer waits while another write locks the same books", async () => {
  await database.reset();
  const { books } = await connectedBill();
  const link = await claim();
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: locked, resolve: holds } = Promise.withResolvers<void>();
  const writing = database.asRole("authenticated", {}, async (session) => {
    await session.query("select app.lock_books($1)", [books.organizationId]);
    holds();
    await finished;
  });
  await locked;
  let isKept = false;
  const keeping = keep(link, "84.20").then((kept) => {
    isKept = true;
    return kept;
  });
  try {
    await waitFor(async () => {
      const [row] = await database.query<{ count: number }>(
        `select count(*)::int as count from pg_locks as l join pg_database as d on d.oid = l.database
       where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
      );
      return row!.count > 0 || isKept ? row : undefined;
    }, { deadlineMs: 5_000, everyMs: 10 });
    assertEquals(isKept, false);
  } finally {
    finish();
  }
  await writing;
  assertEquals((await keeping).status, "updated");
});

/** A due bill of an organization with a paid plan; it counts as paid as soon as its amount is known. */
async function awaitedBill(): Promise<{ books: Books; end: () => ReturnType<typeof deliver> }> {
  const { books } = await connectedBill({ autopay: true, first_due: "2026-10-01" });
  await database.query("insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'team')", [PLANS.team]);
  const about = {
    organizationId: books.organizationId,
    planId: PLANS.team,
    subscriptionId: `sub_${books.organizationId}`,
  };
  await deliver(database, "subscription.charged", { ...about, at: new Date("2026-10-01T10:00:00Z") });
  const end = () => deliver(database, "subscription.cancelled", { ...about, at: new Date("2026-10-02T11:00:00Z") });
  return { books, end };
}

const stateOf = async ({ organizationId }: Books) =>
  (await database.query(
    `select o.plan_status, l.status, (select count(*)::int from app.payments as p where p.organization_id = o.id) as paid
     from identity.organizations as o join app.provider_links as l on l.organization_id = o.id where o.id = $1`,
    [organizationId],
  ))[0];

Deno.test("the end of a plan and a provider amount don't deadlock", async () => {
  await database.reset();
  const { books, end } = await awaitedBill();
  const link = await claim();
  const [verdict, kept] = await inLine(database, organizationOf(books.organizationId), end, () => keep(link, "84.20"));
  assertEquals([verdict.outcome, kept.outcome], ["applied", "lost"]);
  assertEquals(await stateOf(books), { plan_status: "canceled", status: "paused", paid: 0 });
});

Deno.test("the end of a plan and an amount requested by a person don't deadlock", async () => {
  await database.reset();
  const { books, end } = await awaitedBill();
  const { pending: [link] } = await books.ok("sync_bill_amounts");
  const answer = { outcome: "statement", amount: "84.20", currency: "EUR" };
  const results = [{ link_id: link.link_id, lease_token: link.lease_token, period: link.period, answer }];
  const [verdict, stored] = await inLine(
    database,
    organizationOf(books.organizationId),
    end,
    () => books.ok("store_bill_amounts", { results }),
  );
  assertEquals(verdict.outcome, "applied");
  // A transaction that already refers to the organization, like a tool's change, need not queue, so either may be
  // first.
  const paid = { updated: 1, failed: 0 }[stored.bills[0].status as string];
  assertEquals(await stateOf(books), { plan_status: "canceled", status: "paused", paid });
});

Deno.test("test of the test: without the end of the plan the amount is paid", async () => {
  await database.reset();
  const { books } = await awaitedBill();
  assertEquals((await keep(await claim(), "84.20")).status, "updated");
  assertEquals(await stateOf(books), { plan_status: "active", status: "active", paid: 1 });
});
