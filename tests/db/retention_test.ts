/** Each period in `app.retention`: rows remain until it ends and are purged a second later, and the documents agree. */
import { assert, assertEquals } from "@std/assert";
import { RETENTION } from "../../shared/retention.ts";
import { openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const AT = "2026-11-20T03:17:00Z";
const U = "md5('u')::uuid";
/** Inserts one row whose period began at `$at`, and names its table. */
const ROWS: Record<string, { table: string; insert: (at: string) => string }> = {
  deleted_records: {
    table: "app.payments",
    insert: (at) =>
      `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on, deleted_at)
       select o.id, e.id, 100, 'EUR', '2026-01-01', ${at} from o join app.expenses as e on e.organization_id = o.id`,
  },
  documents: {
    table: "app.documents",
    insert: (at) =>
      `insert into app.documents (organization_id, added_by, hash, name, type, size, created_at)
       select o.id, ${U}, md5('a') || md5('b'), 'a.pdf', 'application/pdf', 1, ${at} from o`,
  },
  inbound_mails: {
    table: "app.inbound_mails",
    insert: (at) =>
      `insert into app.inbound_mails (organization_id, provider_id, state, leased_until, received_at)
       select o.id, 'a', 'waiting', ${at}, ${at} from o`,
  },
  changes: {
    table: "app.change_sets",
    insert: (at) =>
      `insert into app.change_sets (organization_id, actor_id, tool, is_emptied, created_at)
       select o.id, ${U}, 'log_expenses', true, ${at} from o`,
  },
  used_codes: {
    table: "oauth.used_codes",
    insert: (at) => `insert into oauth.used_codes (id, code_expires_at) select gen_random_uuid(), ${at} from o`,
  },
  consents: {
    table: "oauth.consents",
    insert: (at) =>
      `insert into oauth.consents (id, user_id, organization_id, approved_at)
       select gen_random_uuid(), o.owner_id, o.id, ${at} from o`,
  },
  tokens: {
    table: "oauth.tokens",
    insert: (at) =>
      `insert into oauth.tokens (token_hash, kind, grant_id, issued_at, expires_at)
       select sha256(gen_random_uuid()::text::bytea), 'refresh', g.id, ${at}, ${at} from oauth.grants as g where g.resource = 'kept'`,
  },
  grants: { table: "oauth.grants", insert: (at) => grant(at, "revoked_by_user") },
  unseen_alerts: { table: "oauth.grants", insert: (at) => grant(at, "code_replayed") },
  client_documents: {
    table: "oauth.client_documents",
    insert: (at) =>
      `insert into oauth.client_documents (client_id, fetched_at, fresh_until) select 'client_kept', ${at} - interval '1 hour', ${at} from o`,
  },
  clients: {
    table: "oauth.clients",
    insert: (at) =>
      `insert into oauth.clients (client_id, client_name, redirect_uris, created_at)
       select 'client_x', 'x', '{https://x.example/}', ${at} from o`,
  },
  attempts: {
    table: "identity.attempts",
    insert: (at) => `insert into identity.attempts select 'a', array[${at}] from o`,
  },
  invitations: {
    table: "identity.invitations",
    insert: (at) =>
      `insert into identity.invitations (organization_id, address, role, invited_by, token_hash, created_at, expires_at)
       select o.id, 'guest@kept.example', 'member', o.owner_id, sha256('kept'), ${at} - interval '7 days', ${at} from o`,
  },
  job_runs: {
    table: "jobs.job_runs",
    insert: (at) =>
      `insert into jobs.job_runs (job, period, stage, status, started_at, finished_at)
       select 'reminders', '2026-01-01', 'roll', 'ok', ${at}, ${at} from o`,
  },
  events: {
    table: "app.events",
    insert: (at) =>
      `insert into app.events (organization_id, name, about, created_at) select o.id, 'bill.due', '{bill_x}', ${at} from o`,
  },
  digests: {
    table: "jobs.reminder_digests",
    insert: (at) =>
      `insert into jobs.reminder_digests (recipient_id, local_on, status, next_attempt_at, created_at, closed_at)
       select o.owner_id, '2025-01-01', 'sent', ${at}, ${at}, ${at} from o`,
  },
  payment_events: {
    table: "billing.payment_events",
    insert: (at) =>
      `insert into billing.payment_events (body_hash, type, paid_count, auth_attempts, rank, outcome, received_at)
       select 'x', 'other', 0, 0, 0, 'ignored', ${at} from o`,
  },
  proposals: {
    table: "app.proposals",
    insert: (at) =>
      `insert into app.proposals (organization_id, actor_id, tool, arguments, proposed_on, reasons, approver, facts, effects, fingerprint, hash, expires_at)
       select o.id, o.owner_id, 'log_expenses', '{}', '2026-01-01', '[]', 'manager', '{}', '{}', 'x', 'x', ${at} from o`,
  },
  cron_runs: {
    table: "cron.job_run_details",
    insert: (at) => `insert into cron.job_run_details (jobid, end_time) select 1, ${at} from o`,
  },
};

const grant = (at: string, reason: string) =>
  `insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at, revoked_at, revocation_reason)
   select 'client_kept', o.owner_id, o.id, 'https://x.example/', 'x', ${at}, timestamptz '${AT}' + interval '1 year', ${at}, '${reason}' from o`;

/** Covered by purged_test.ts of the canary, by the tools' tests, and below. */
const ELSEWHERE = [
  "deleted_organizations",
  "deleted_accounts",
  "change_contents",
  "idempotency_keys",
  "imports",
  "tool_reads",
];

Deno.test("every retention period has a test and is documented", async () => {
  const times = await database.query<{ what: string; keep: string }>(
    "select what, keep::text from app.retention order by what",
  );
  assertEquals(times.map(({ what }) => what), [...Object.keys(ROWS), ...ELSEWHERE].toSorted());
  const text = await Deno.readTextFile(new URL("../../docs/retention.md", import.meta.url));
  const said = [...text.matchAll(/^\| `(\w+)` *\| (\d+ \w+) *\|/gm)].map(([, what, keep]) => [what, keep]);
  const spelled = times.map(({ what, keep }) => [what, keep === "24:00:00" ? "24 hours" : keep]);
  assertEquals(said.toSorted(), spelled);
  const onPage = Object.entries(RETENTION);
  assertEquals(onPage, onPage.map(([what]) => [what, spelled.find(([known]) => known === what)?.[1]]));
});

for (const [what, { table, insert }] of Object.entries(ROWS)) {
  Deno.test(`${what}: rows remain until the retention ends and are purged a second later`, async () => {
    await database.reset();
    const books = await openBooks(database, { day: "2026-11-20" });
    await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-11-25" });
    await database.exec(`
      insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at)
        values ('client_kept', 'kept', '{https://x.example/}', '${AT}', '${AT}');
      insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
        select 'client_kept', owner_id, id, 'https://x.example/', 'kept', '${AT}', timestamptz '${AT}' + interval '1 year'
        from identity.organizations;
      delete from cron.job_run_details`);
    const count = async () => (await database.query<{ n: number }>(`select count(*)::int as n from ${table}`))[0]!.n;
    const before = await count();
    const began = `(timestamptz '${AT}' - (select keep from app.retention where what = '${what}'))`;
    await database.query(`with o as (select * from identity.organizations) ${insert(began)}`);
    assertEquals(await count(), before + 1);
    const purge = (seconds: number) =>
      database.query(`select jobs.purge_expired(timestamptz '${AT}' + ${seconds} * interval '1 second')`);
    await purge(0);
    assertEquals(await count(), before + 1);
    await purge(1);
    assertEquals(await count(), before);
    await purge(1);
    assertEquals(await count(), before);
  });
}

Deno.test("a change keeps its contents while it can be undone, and only its existence afterwards", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-10-01" });
  const logged = async (name: string) =>
    (await books.call("log_expenses", { items: [{ name, amount: "10", date: "2026-10-01" }] }))
      .change_id as string;
  const [old, kept] = [await logged("Lunch"), await logged("Taxi")];
  await database.exec(`
    update app.change_sets set created_at = timestamptz '${AT}' - interval '30 days 1 second' where id = '${old}';
    update app.change_sets set created_at = timestamptz '${AT}' - interval '30 days' where id = '${kept}'`);
  const purge = (most: number) => database.query("select jobs.purge_expired($1, $2)", [AT, most]);
  for (let run = 0; run < 20; run++) await purge(1);
  const left = await database.query<{ id: string; is_emptied: boolean; facts: unknown; items: number; tool: string }>(
    `select s.id, s.is_emptied, s.facts, s.tool, (select count(*)::int from app.change_items as i where i.change_id = s.id) as items
     from app.change_sets as s order by s.recorded_seq`,
  );
  assertEquals(left[0], { id: old, is_emptied: true, facts: {}, tool: "log_expenses", items: 0 });
  assert(left[1]!.items > 0 && !left[1]!.is_emptied);
  books.goTo("2026-11-19");
  const error = await books.fails("undo_expired", "undo_change", { change_id: old });
  assertEquals(error.message, "This change was made more than 30 days ago and can no longer be undone.");
  const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
  assertEquals(recent_changes.map(({ change_id }: { change_id: string }) => change_id), [kept]);
});
