/**
 * The people of the canary organization delete it and themselves. After the purge, a full database dump contains only
 * audit events without personal data, and the other organization's rows are unchanged.
 */
import { assert, assertEquals } from "@std/assert";
import type { Session } from "../../local/database/sql.ts";
import { sharedDatabase } from "../_support/database.ts";
import { dump, leaksIn, NOW, openTenants, type Tenants } from "./tenants.ts";

const database = await sharedDatabase();

const GRACE_OVER = "2026-12-04T10:00:00Z";

async function fresh(): Promise<Tenants> {
  await database.reset();
  const tenants = await openTenants(database);
  const { ownerId } = tenants.second;
  // The identity provider's rows, planted as well. Its own deletion cascades from auth.users.
  await database.exec(`
    update auth.users set raw_user_meta_data = '{"name": "Zq7Canary"}' where id = '${ownerId}';
    insert into auth.identities (id, provider_id, user_id, identity_data, provider, created_at, updated_at)
      values (gen_random_uuid(), '${ownerId}', '${ownerId}', '{"email": "Zq7Canary@second.example"}', 'email', now(), now());
    insert into auth.sessions (id, user_id, created_at, updated_at)
      values (gen_random_uuid(), '${ownerId}', now(), now());
    insert into oauth.rate_buckets (key, full_at) values ('calendar_feed:${tenants.second.organizationId}:x', '${NOW}'),
      ('connector_read:${tenants.second.grantId}', '${NOW}'), ('user:${ownerId}', '${NOW}');
    update identity.organizations set closed_through = '2026-01-31' where id = '${tenants.second.organizationId}'`);
  return tenants;
}

/** Every row of every table in all schemas. */
async function dumpEverything(session: Session): Promise<string[]> {
  const tables = await session.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema') and not n.nspname like 'pg\\_%'`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await session.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} as t`);
    rows.push(...found.map(({ row }) => `${name} ${row}`));
  }
  return rows.toSorted();
}

const remains = async (tenants: Tenants): Promise<string[]> =>
  (await dumpEverything(database)).filter((row) => leaksIn(row, tenants).length > 0 || row.includes("second.example"));

async function deleteAll({ second }: Tenants): Promise<void> {
  const [organization] = await database.query<{ name: string }>(
    "select name from identity.organizations where id = $1",
    [second.organizationId],
  );
  const asked = await database.asService<{ outcome: string }>("delete_organization", {
    user_id: second.ownerId,
    organization_id: second.organizationId,
    name: organization!.name,
    at: NOW,
  });
  assertEquals(asked.outcome, "scheduled");
  // Includes a person who only signed in.
  const people = await database.query<{ user_id: string; email: string }>(
    "select id as user_id, email from auth.users where email like '%@second.example' order by email",
  );
  assertEquals(people.length, 5);
  for (const { user_id, email } of people) {
    const answer = await database.asService<{ outcome: string }>("delete_account", { user_id, email, at: NOW });
    assertEquals(answer.outcome, "scheduled");
  }
}

const purge = (name: string, at: string, most: number) =>
  database.query<{ done: Record<string, number> }>(`select jobs.${name}($1, $2) as done`, [at, most])
    .then(([row]) => row!.done);

/** Runs pages until no work remains. Returns their number. */
async function purgeInPages(most: number): Promise<number> {
  for (let runs = 1; runs < 500; runs++) {
    const { rows, organizations } = await purge("purge_organizations", GRACE_OVER, most);
    const { people } = await purge("purge_people", GRACE_OVER, 1);
    if (rows! + organizations! + people! === 0) return runs;
  }
  throw new Error("the purge does not end");
}

/** Rows of the first organization and of nobody, except the rows to purge. */
const others = async (tenants: Tenants) =>
  (await dumpEverything(database)).filter((row) =>
    leaksIn(row, tenants).length === 0 && !row.includes("second.example") && !row.startsWith("oauth.rate_buckets")
  );

Deno.test("a second before the grace period ends, the purge deletes nothing of a deleted canary", async () => {
  const tenants = await fresh();
  await deleteAll(tenants);
  const before = await dumpEverything(database);
  assertEquals(await purge("purge_organizations", "2026-12-04T09:59:59Z", 50_000), { organizations: 0, rows: 0 });
  assertEquals(await purge("purge_people", "2026-12-04T09:59:59Z", 500), { people: 0 });
  assertEquals(await dumpEverything(database), before);
});

for (const most of [50_000, 3, 1]) {
  Deno.test(`after the purge, in pages of ${most}, only audit events without details remain of the canary`, async () => {
    const tenants = await fresh();
    assert((await remains(tenants)).length > 40);
    const { first } = tenants;
    const ofFirst = () => dump(database, { ids: [first.organizationId, first.ownerId, first.memberId] });
    const [owned, other] = [await ofFirst(), await others(tenants)];
    await deleteAll(tenants);
    const runs = await purgeInPages(most);
    assert(most > 100 || runs > 5, String(runs));

    assertEquals(await ofFirst(), owned);
    const now = await others(tenants);
    assertEquals(other.filter((row) => !now.includes(row)), []);
    // Codes and limits expire by themselves, for everybody.
    await purge("purge_expired", GRACE_OVER, 50_000);
    const left = await remains(tenants);
    assert(left.length > 3, "the audit stays");
    for (const row of left) {
      assert(row.startsWith("identity.audit_events "), row);
      assertEquals(JSON.parse(row.slice(row.indexOf("{"))).detail, {}, row);
    }
    // A second purge changes nothing.
    const after = await dumpEverything(database);
    assertEquals(await purgeInPages(most), 1);
    assertEquals(await dumpEverything(database), after);
  });
}

Deno.test("a killed page is rolled back completely, and the next run continues", async () => {
  const tenants = await fresh();
  await deleteAll(tenants);
  await purge("purge_organizations", GRACE_OVER, 5);
  const before = await dumpEverything(database);
  await database.transaction(async (session) => {
    await session.query("select jobs.purge_organizations($1, 7)", [GRACE_OVER]);
    throw new Error("killed");
  }).catch((error) => assertEquals(error.message, "killed"));
  assertEquals(await dumpEverything(database), before);
  await purgeInPages(7);
  await purge("purge_expired", GRACE_OVER, 50_000);
  assertEquals((await remains(tenants)).filter((row) => !row.startsWith("identity.audit_events")), []);
});

Deno.test("only the purger role may purge, and it has no other right", async () => {
  const names = ["end_reviews", "purge", "purge_expired", "purge_organizations", "purge_people"];
  const rights = await database.query<{ role: string; may: string[] }>(
    `select r.role, array(
       select p.proname::text from pg_proc as p
       where p.pronamespace = 'jobs'::regnamespace and p.proname = any ($1)
         and has_function_privilege(r.role, p.oid, 'execute') order by 1
     ) as may
     from unnest(array['anon', 'authenticated', 'service_role', 'purger']) as r (role)`,
    [names],
  );
  assertEquals(Object.fromEntries(rights.map(({ role, may }) => [role, may])), {
    anon: [],
    authenticated: [],
    service_role: [],
    purger: names,
  });
  const tables = await database.query(
    `select c.oid::regclass::text from pg_class as c
     where c.relkind in ('r', 'p') and c.relnamespace in (
       select oid from pg_namespace where nspname in ('identity', 'oauth', 'billing', 'app', 'jobs', 'auth')
     ) and has_table_privilege('purger', c.oid, 'select, insert, update, delete')`,
  );
  assertEquals(tables, []);
});
