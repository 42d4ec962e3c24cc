/**
 * Code that locks several rows follows one order (decision 165) or polls. Tests each pair of calls that once
 * deadlocked.
 */
import { assertEquals } from "@std/assert";
import { decide, noon, proposes, readProposal, setRules } from "../_support/approvals.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { importOf, importOfFile } from "../_support/import_args.ts";
import { addLink } from "../functions/cron-provider-sync/harness.ts";
import { AT, createHousehold, newHash } from "./household.ts";
import { type Held, inLine, organizationOf, untilWaiting } from "./in_line.ts";

const database = await sharedDatabase();
Deno.test.beforeEach(() => database.reset());

/** The bill was added before its first date, which has now passed. */
async function bill(books: Books, name: string, more: Json = {}): Promise<string> {
  books.goTo("2026-11-10");
  const { bill: { id } } = await books.ok("add_bill", { name, amount: "800", first_due: "2026-11-18", ...more });
  books.goTo("2026-11-20");
  return id;
}

/** A file with an expense, and a payment of the bill Rent: the arguments of its commit. */
async function paysRent(books: Books): Promise<Json> {
  const csv = "Date,Name,Amount\n2026-11-18,LIDL,-23.45\n2026-11-19,RENT HAUSVERWALTUNG,-800.00\n";
  const more = { account: "Giro", mapping: { negative_is_expense: true } };
  const { preview } = await books.ok("import_expenses", importOfFile(csv, more));
  const matches = await database.query<{ state: string }>(
    "select match ->> 'state' as state from app.import_rows where import_id = $1 order by line",
    [preview.import_id],
  );
  assertEquals(matches.map(({ state }) => state), ["new", "linked"]);
  return preview.commit_with;
}

/** Holds the books lock, then locks a bill on command. */
function withTheBooks(books: Books, work: (call: (tool: string, args: Json) => Promise<Json>) => Promise<void>) {
  const claims = { sub: books.userId, organization_id: books.organizationId };
  return database.asRole("authenticated", claims, async (session) => {
    await session.query("select app.lock_books($1)", [books.organizationId]);
    await work(async (tool, args) => {
      const [row] = await session.query<{ result: Json }>("select app.run_tool($1, $2::text::jsonb, $3) as result", [
        tool,
        JSON.stringify(args),
        noon(books),
      ]);
      return row!.result;
    });
  });
}

Deno.test("the holder of the books lock gets the bill that a waiting import needs", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const id = await bill(books, "Rent");
  const commit = await paysRent(books);
  let imported: Promise<Json> | undefined;
  let paid: Json | undefined;
  await withTheBooks(books, async (call) => {
    // The import locks the bill, and is delayed before it takes the books lock.
    await inLine(
      database,
      organizationOf(books.organizationId),
      () => {
        imported = books.call("import_expenses", commit);
        return Promise.resolve();
      },
      async () => paid = await call("mark_bill_paid", { bill_id: id }),
    );
  });
  assertEquals([paid!.ok, (await imported)!.error.code], [true, "busy"]);
  assertEquals((await books.ok("list_expenses")).rows.length, 1);
});

Deno.test("removing a member doesn't wait for an import that pays a bill of theirs", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const member = await books.join();
  const id = await bill(books, "Rent");
  await database.query("update app.expenses set assignee_id = $2 where id = $1", [id, member.userId]);
  const commit = await paysRent(books);
  const [imported, removed] = await inLine(
    database,
    organizationOf(books.organizationId),
    () => books.call("import_expenses", commit),
    () =>
      database.asService<Json>("remove_member", {
        user_id: books.userId,
        organization_id: books.organizationId,
        member_id: member.userId,
        at: noon(books),
      }),
  );
  assertEquals([imported.error?.code, removed.outcome], ["busy", "removed"]);
});

Deno.test("deleting an account and accepting a hand-over don't wait for each other", async () => {
  const owner = await openBooks(database, { day: "2026-11-20" });
  const member = await owner.join();
  const its = { organization_id: owner.organizationId, at: noon(owner) };
  await database.asService("propose_owner", { ...its, user_id: owner.userId, member_id: member.userId });
  const [handover] = await database.query<{ id: string }>("select id from identity.handovers");
  const own = { user_id: member.userId, at: noon(owner) };
  const [deleted, accepted] = await inLine(
    database,
    organizationOf(owner.organizationId),
    () => database.asService<Json>("delete_account", { ...own, email: `${member.userId}@example.com` }),
    () => database.asService<Json>("accept_handover", { ...own, ...its, handover_id: handover!.id }),
  );
  assertEquals([deleted.outcome, accepted.outcome], ["scheduled", "unknown"]);
});

Deno.test("deleting an account waits for the books lock and includes concurrent assignments", async () => {
  const owner = await openBooks(database, { day: "2026-11-20" });
  const member = await owner.join();
  const id = await bill(owner, "Rent");
  let deleted: Promise<Json> | undefined;
  await withTheBooks(owner, async (call) => {
    deleted = database.asService<Json>("delete_account", {
      user_id: member.userId,
      email: `${member.userId}@example.com`,
      at: noon(owner),
    });
    await untilWaiting(database, 1);
    const set = { assignee: `${member.userId}@example.com` };
    assertEquals((await call("update_bill", { bill_id: id, set })).ok, true);
  });
  assertEquals((await deleted!).outcome, "scheduled");
  const [row] = await database.query("select assignee_id from app.expenses where id = $1", [id]);
  assertEquals(row, { assignee_id: null });
});

Deno.test("an approval during another import returns busy and stays pending", async () => {
  const owner = await openBooks(database, { day: "2026-11-20" });
  const member = await owner.join();
  await setRules(database, owner, [{}]);
  const row = { line: 2, name: "Shop", amount: "14.50", date: "2026-11-18" };
  const { preview } = await member.ok("import_expenses", importOf([row]));
  const id = await proposes(member, "import_expenses", { import_id: preview.import_id, ...preview.commit_with });
  const { hash } = await readProposal(database, owner, id);
  await database.asRole("authenticated", {}, async (session) => {
    await session.query("select app.lock_imports($1)", [owner.organizationId]);
    assertEquals(await decide(database, owner, id, "approve", hash), { outcome: "busy" });
  });
  assertEquals((await decide(database, owner, id, "approve", hash)).outcome, "approved");
});

Deno.test("writing to a bill doesn't block references to it", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const id = await bill(books, "Rent");
  const { payment } = await books.ok("mark_bill_paid", { bill_id: id });
  await withTheBooks(books, async (call) => {
    for (
      const [tool, args] of [
        ["update_bill", { bill_id: id, set: { note: "Flat" } }],
        ["mark_bill_paid", { bill_id: id, advance: true }],
        ["undo_change", {}],
      ] as const
    ) assertEquals((await call(tool, args)).ok, true, tool);
    // Locks like the foreign key of a reminder.
    await database.query("select from app.expenses where id = $1 for key share nowait", [id]);
  });
  assertEquals(payment.amount, "800.00");
});

Deno.test("amounts of several bills are stored in the order of the bills", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const fetched = { amount: undefined, amount_mode: "variable", first_due: "2026-11-25" };
  const ids = [
    await bill(books, "Power", fetched),
    await bill(books, "Water", fetched),
  ].toSorted();
  for (const billId of ids) {
    await addLink(database, { organizationId: books.organizationId, billId, provider: "power" });
  }
  const { pending } = await books.ok("sync_bill_amounts");
  const billOf = new Map((await database.query<{ id: string; expense_id: string }>(
    "select id, expense_id from app.provider_links",
  )).map((link) => [link.id, link.expense_id]));
  const results = pending
    .toSorted((one: Json, other: Json) => billOf.get(one.link_id)! < billOf.get(other.link_id)! ? 1 : -1)
    .map(({ link_id, lease_token, period }: Json) => ({
      link_id,
      lease_token,
      period,
      answer: { outcome: "statement", amount: "84.20", currency: "EUR" },
    }));
  let stored: Promise<Json> | undefined;
  // Locks like an import, which locks its bills without the books lock.
  await database.transaction(async (session) => {
    await session.query("select from app.expenses where id = $1 for no key update", [ids[0]]);
    stored = books.ok("store_bill_amounts", { results });
    await untilWaiting(database, 1);
    await session.query("select from app.expenses where id = $1 for no key update", [ids[1]]);
  });
  assertEquals((await stored)!.bills.map(({ status }: Json) => status), ["updated", "updated"]);
});

async function grantOf(limits?: Json) {
  const household = await createHousehold(database);
  const refresh = newHash();
  const redeemed = await database.asService<Json>("redeem_authorization_code", {
    ...household.newCode(),
    access_token_hash: newHash(),
    refresh_token_hash: refresh,
  });
  const rotate = (token: string, successor: string) =>
    database.asService<Json>("rotate_refresh_token", {
      token_hash: token,
      client_id: household.clientId,
      successor_hash: successor,
      access_token_hash: newHash(),
      at: AT,
      limits,
    });
  return { household, grantId: redeemed.grant_id as string, refresh, rotate };
}

Deno.test("refreshing a token and ending its grant don't wait for each other", async () => {
  const { grantId, refresh, rotate } = await grantOf({ grant: { at_most: 10, seconds: 60 } });
  const next = newHash();
  assertEquals((await rotate(refresh, next)).outcome, "rotated");
  const bucket: Held = ["select from oauth.rate_buckets where key = $1 for update", `token_grant:${grantId}`];
  const [rotated] = await inLine(
    database,
    bucket,
    () => rotate(next, newHash()),
    () => database.query("delete from oauth.grants where id = $1", [grantId]),
  );
  assertEquals(rotated.outcome, "rotated");
  assertEquals(await database.query("select from oauth.tokens"), []);
});

Deno.test("removing a member and disconnecting their app with an open proposal don't wait for each other", async () => {
  const owner = await openBooks(database, { day: "2026-11-20" });
  const member = await owner.join();
  await setRules(database, owner, [{}]);
  const { household } = await grantOf();
  const redeemed = await database.asService<Json>("redeem_authorization_code", {
    ...household.newCode(),
    user_id: member.userId,
    organization_id: owner.organizationId,
    access_token_hash: newHash(),
    refresh_token_hash: newHash(),
  });
  const id = await proposes(member, "log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
  await database.query("update app.proposals set grant_id = $2 where id = $1", [id, redeemed.grant_id]);
  const [removed, revoked] = await inLine(
    database,
    ["select from app.proposals where id = $1 for update", id],
    () =>
      database.asService<Json>("remove_member", {
        user_id: owner.userId,
        organization_id: owner.organizationId,
        member_id: member.userId,
        at: noon(owner),
      }),
    () =>
      database.asService<Json>("revoke_grant", {
        user_id: member.userId,
        grant_id: redeemed.grant_id,
        at: noon(owner),
      }),
  );
  assertEquals(removed.outcome, "removed");
  assertEquals(typeof revoked, "object");
  const [proposal] = await database.query<{ state: string }>("select state from app.proposals where id = $1", [id]);
  assertEquals(proposal!.state, "withdrawn");
});

Deno.test("narrowing an app with an open proposal, disconnecting it and answering it don't wait for each other", async () => {
  for (
    const [other, outcome] of [["revoke_grant", "revoked"], ["decide_proposal", "already"]] as const
  ) {
    const owner = await openBooks(database, { day: "2026-11-20" });
    const member = await owner.join();
    await setRules(database, owner, [{}]);
    const { household } = await grantOf();
    const { grant_id } = await database.asService<Json>("redeem_authorization_code", {
      ...household.newCode(),
      user_id: member.userId,
      organization_id: owner.organizationId,
      access_token_hash: newHash(),
      refresh_token_hash: newHash(),
    });
    const id = await proposes(member, "log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] });
    await database.query("update app.proposals set grant_id = $2 where id = $1", [id, grant_id]);
    const { hash } = await readProposal(database, owner, id);
    const its = { user_id: member.userId, grant_id, at: noon(owner) };
    const [narrowed, answered] = await inLine(
      database,
      ["select from app.proposals where id = $1 for update", id],
      () => database.asService<Json>("change_grant_access", { ...its, access: "read" }),
      () =>
        other === "revoke_grant" ? database.asService<Json>(other, its) : decide(database, owner, id, "approve", hash),
    );
    assertEquals([narrowed.outcome, answered.outcome], ["changed", outcome], other);
    assertEquals(await database.query("select state from app.proposals where id = $1", [id]), [{ state: "withdrawn" }]);
  }
});

Deno.test("narrowing an app doesn't wait for an import that pays a bill", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  await bill(books, "Rent");
  const commit = await paysRent(books);
  const { household } = await grantOf();
  const { grant_id } = await database.asService<Json>("redeem_authorization_code", {
    ...household.newCode(),
    user_id: books.userId,
    organization_id: books.organizationId,
    access_token_hash: newHash(),
    refresh_token_hash: newHash(),
  });
  const [imported, narrowed] = await inLine(
    database,
    organizationOf(books.organizationId),
    () => books.call("import_expenses", commit),
    () =>
      database.asService<Json>("change_grant_access", {
        user_id: books.userId,
        grant_id,
        access: "read",
        at: noon(books),
      }),
  );
  assertEquals([imported.ok, narrowed.outcome], [true, "changed"]);
});

Deno.test("an organization with a concurrent payment event is purged in the next run", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  await database.query("insert into billing.subscriptions (id, organization_id) values ('sub_1', $1)", [
    books.organizationId,
  ]);
  await database.query("update identity.organizations set deletes_at = $2 where id = $1", [books.organizationId, AT]);
  const purge = async () =>
    (await database.query<{ done: Json }>("select jobs.purge_organizations($1) as done", [AT]))[0]!.done.organizations;
  await database.transaction(async (session) => {
    await session.query("select from billing.subscriptions where id = 'sub_1' for update");
    assertEquals(await purge(), 0);
  });
  assertEquals(await purge(), 1);
});

Deno.test("a stranger's click does not wait for the books lock", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  await withTheBooks(books, async () => {
    const pressed = await database.asService("pay_due_date", {
      user_id: crypto.randomUUID(),
      organization_id: books.organizationId,
      bill_id: "bill_000000000001",
      due_on: "2026-12-01",
      shown: null,
      amount: null,
      idempotency_key: crypto.randomUUID(),
      at: noon(books),
    });
    assertEquals(pressed, { outcome: "unknown" });
  });
});
