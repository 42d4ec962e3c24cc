/**
 * Banned and soft-deleted people do not count as members and get no mail, from the next statement on. Their grants and
 * memberships remain.
 */
import { assertEquals } from "@std/assert";
import { openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { addDueBills } from "../functions/cron-reminders/due_bills.ts";
import { addLinkedBills, linkId } from "../functions/cron-provider-sync/linked_bills.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";

const database = await sharedDatabase();

const START = Date.parse("2026-11-20T08:00:00Z");
const owner = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const suspend = (id: string, by = "banned_until = 'infinity'") =>
  database.query(`update auth.users set ${by} where id = $1`, [id]);

Deno.test("is_active() is false during a ban, after a deletion and for an unknown person", async () => {
  const id = crypto.randomUUID();
  const isActive = async (at: string) =>
    (await database.query<{ active: boolean }>("select identity.is_active($1, $2) as active", [id, at]))[0]!.active;
  assertEquals(await isActive("2026-11-20T00:00:00Z"), false);
  await database.query("insert into auth.users (id, email) values ($1, 'mira@example.com')", [id]);
  assertEquals(await isActive("2026-11-20T00:00:00Z"), true);
  await suspend(id, "banned_until = '2026-11-20T00:00:00Z'");
  assertEquals(await isActive("2026-11-19T23:59:59.999Z"), false);
  assertEquals(await isActive("2026-11-20T00:00:00Z"), true);
  await suspend(id, "deleted_at = '2026-11-20T00:00:00Z'");
  assertEquals(await isActive("2026-11-21T00:00:00Z"), false);
});

Deno.test("row-level security shows a suspended person nothing and lets them write nothing; other members are unaffected", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const member = await books.join();
  const log = { items: [{ amount: "5", name: "Bakery", date: "2026-11-19" }] };
  await books.ok("log_expenses", log);
  await suspend(member.userId, "banned_until = '2026-11-20T12:00:01Z'");
  assertEquals(await member.call("list_expenses", {}), null);
  assertEquals(await member.call("log_expenses", log), null);
  const seen = await database.asRole(
    "authenticated",
    { sub: member.userId, organization_id: books.organizationId },
    async (session) => {
      await session.query("select set_config('app.at', '2026-11-20T12:00:00Z', true)");
      return await session.query("select id from app.expenses union all select user_id::text from identity.profiles");
    },
  );
  assertEquals(seen, []);
  assertEquals((await books.ok("list_expenses", {})).rows.length, 1);
  await suspend(books.userId, "deleted_at = '2026-11-20'");
  member.goTo("2026-11-21");
  assertEquals((await member.ok("list_expenses", {})).rows.length, 1);
});

/** Owners with one due bill each, and the job. */
async function reminders(owners: number) {
  await database.reset();
  await addDueBills(database, { owners, each: 1, today: "2026-11-20" });
  const mail = mailService();
  const clock = { minutes: 0 };
  const job = createJob({
    database: asDatabase(database),
    fetch: withRates(mail.fetch),
    now: () => new Date(START + clock.minutes * 60_000),
  });
  const run = async (minutes = 0) => {
    clock.minutes += minutes;
    return await job.run();
  };
  return { mail, run, to: () => mail.delivered.map(({ to }) => to).toSorted() };
}

for (const by of ["banned_until = '2026-11-21T08:00:00Z'", "deleted_at = '2026-11-20'"]) {
  Deno.test(`a suspended owner gets no reminder, and others get theirs: ${by}`, async () => {
    const { run, to } = await reminders(3);
    await suspend(owner(2), by);
    await run();
    assertEquals(to(), ["owner1@example.com", "owner3@example.com"]);
    await run(24 * 60);
    const isBan = by.startsWith("banned");
    assertEquals(to(), ["owner1@example.com", ...(isBan ? ["owner2@example.com"] : []), "owner3@example.com"]);
  });
}

Deno.test("a digest created before its owner's suspension is not sent, and is created again after the ban", async () => {
  const { mail, run, to } = await reminders(2);
  mail.before = () => new Response("", { status: 503 });
  await database.asService("collect_reminders", { at: new Date(START) });
  await suspend(owner(2), "banned_until = '2026-11-21T00:00:00Z'");
  mail.before = undefined;
  await run();
  assertEquals(to(), ["owner1@example.com"]);
  assertEquals(await database.query("select from jobs.reminder_digests where recipient_id = $1", [owner(2)]), []);
  await run(24 * 60);
  assertEquals(to(), ["owner1@example.com", "owner2@example.com"]);
});

Deno.test("a mail of unknown outcome is not retried once its owner is suspended", async () => {
  const { mail, run, to } = await reminders(2);
  mail.before = () => new TypeError("connection reset");
  await run();
  assertEquals(to(), []);
  await suspend(owner(2), "banned_until = '2026-11-21T00:00:00Z'");
  mail.before = undefined;
  await run(5);
  assertEquals(to(), ["owner1@example.com"]);
  assertEquals(
    await database.query("select status, content from jobs.reminder_digests where recipient_id = $1", [owner(2)]),
    [{ status: "unknown", content: null }],
  );
  assertEquals(await database.query("select from jobs.reminder_batches"), []);
  // A later run may send its reminder again.
  await run(24 * 60);
  assertEquals(to(), ["owner1@example.com", "owner2@example.com"]);
});

Deno.test("the job neither calls providers for a suspended owner nor counts their links as waiting", async () => {
  await database.reset();
  const credential = { token: "dop_v1_0123456789abcdef" };
  await addLinkedBills(database, Array.from({ length: 11 }, () => ({ provider: "digitalocean", credential })));
  await suspend(owner(1));
  const period = "2026-10-01";
  const claim = () =>
    database.asService<{ link_id: string } | null>("claim_provider_link", {
      period,
      again: false,
      before: "2026-11-20T00:00:00Z",
      at: "2026-11-20T08:00:00Z",
    });
  const count = () =>
    database.asService<{ waiting: number }>("count_provider_links", {
      period,
      again: false,
      before: "2026-11-20T08:00:00Z",
      at: "2026-11-20T08:00:00Z",
    });
  assertEquals((await count()).waiting, 1);
  assertEquals((await claim())?.link_id, linkId(11));
  assertEquals(await claim(), null);
  await suspend(owner(1), "banned_until = null");
  assertEquals((await claim())?.link_id, linkId(1));
});

Deno.test("the access token hook refuses password sessions and returns everything else unchanged", async () => {
  const ask = (event: unknown) =>
    database.transaction(async (session) => {
      const [who] = await session.query<{ superuser: boolean }>(
        "select rolsuper as superuser from pg_roles where rolname = current_user",
      );
      // Makes the identity provider's call, if a test may assume its role.
      if (who!.superuser) await session.exec("set local role supabase_auth_admin");
      const [row] = await session.query<{ output: unknown }>(
        "select identity.refuse_passwords($1::text::jsonb) as output",
        [JSON.stringify(event)],
      );
      return row!.output;
    });
  const event = (authentication_method: string, ...methods: string[]) => ({
    user_id: owner(1),
    claims: { sub: owner(1), amr: methods.map((method) => ({ method, timestamp: 1 })) },
    authentication_method,
  });
  const refusal = { error: { http_code: 403, message: "Sign in with a link or code we email you." } };
  assertEquals(await ask(event("password", "password")), refusal);
  assertEquals(await ask(event("password")), refusal);
  // A session older than the hook.
  assertEquals(await ask(event("token_refresh", "password")), refusal);
  assertEquals(await ask(event("totp", "totp", "password")), refusal);
  for (const method of ["otp", "magiclink", "oauth", "token_refresh"]) {
    assertEquals(await ask(event(method, "otp")), event(method, "otp"));
  }
  for (const role of ["anon", "authenticated", "service_role"]) {
    const [row] = await database.query<{ allowed: boolean }>(
      "select has_function_privilege($1, 'identity.refuse_passwords(jsonb)', 'execute') as allowed",
      [role],
    );
    assertEquals(row!.allowed, false, role);
  }
  const [row] = await database.query<{ allowed: boolean }>(
    `select has_function_privilege('supabase_auth_admin', 'identity.refuse_passwords(jsonb)', 'execute')
       and has_schema_privilege('supabase_auth_admin', 'identity', 'usage') as allowed`,
  );
  assertEquals(row!.allowed, true);
});
