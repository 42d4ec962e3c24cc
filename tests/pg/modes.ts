/**
 * Hosted projects may or may not grant new objects in `public` to the API roles. After the migrations, both kinds have
 * the same privileges.
 */
import { assert, assertEquals } from "@std/assert";
import { TEMPLATES } from "../_support/cluster.ts";
import { openDatabase } from "../_support/database.ts";
import { withParts } from "../_support/new_database.ts";

const OURS = "('public', 'identity', 'oauth', 'billing', 'app', 'jobs')";

/** One line per privilege: a role, an object and the right. */
const GRANTS = `
  with objects as (
    select 'schema ' || nspname as name, coalesce(nspacl, acldefault('n', nspowner)) as acl from pg_namespace
      where nspname in ${OURS}
    union all
    select 'relation ' || c.oid::regclass, coalesce(relacl, acldefault('r', relowner)) from pg_class as c
      where relnamespace::regnamespace::text in ${OURS} and relkind in ('r', 'p', 'v', 'm')
    union all
    select 'sequence ' || c.oid::regclass, coalesce(relacl, acldefault('s', relowner)) from pg_class as c
      where relnamespace::regnamespace::text in ${OURS} and relkind = 'S'
    union all
    select format('column %s.%s', a.attrelid::regclass, attname), attacl
      from pg_attribute as a join pg_class as c on c.oid = a.attrelid
      where relnamespace::regnamespace::text in ${OURS} and attacl is not null
    union all
    select 'function ' || p.oid::regprocedure, coalesce(proacl, acldefault('f', proowner)) from pg_proc as p
      where pronamespace::regnamespace::text in ${OURS}
  )
  select format('%s: %s to %s', name, privilege_type, coalesce(nullif(grantee, 0)::regrole::text, 'public')) as line
  from objects, aclexplode(acl) where grantee <> 'postgres'::regrole order by 1`;

async function grantsOf(url: string): Promise<string[]> {
  await using database = await openDatabase(url);
  return (await database.query<{ line: string }>(GRANTS)).map(({ line }) => line);
}

Deno.test("the migrations leave the same grants in both modes, and on PGlite", async () => {
  const server = Deno.env.get("TEST_DATABASE_URL")!;
  const [exposed, closed] = await Promise.all(
    TEMPLATES.map((template) => grantsOf(withParts(server, { database: template }))),
  );
  assert(exposed!.length > 100, `only ${exposed!.length} grants were found`);
  assertEquals(closed, exposed);
  const isPlatforms = (line: string) => line.startsWith("schema public");
  assertEquals(
    (await grantsOf("")).filter((line) => !isPlatforms(line)),
    exposed!.filter((line) => !isPlatforms(line)),
  );
});
