/**
 * A database built from `supabase/schemas`, one per test file: PGlite in memory, or a fresh database on the PostgreSQL
 * server that `TEST_DATABASE_URL` names. The first test after a schema change builds a template; the others load it.
 */
import { createPgliteConnection } from "@supabase/lite/pglite";
import { createPostgresConnection } from "@supabase/lite/postgres";
import { type Migration, readMigrations } from "../../local/database/migrations.ts";
import { extensions, parsers, pgliteDatabase, serializers } from "../../local/database/pglite.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { preparationDigest, prepareDatabase } from "../../local/database/prepare.ts";
import type { Session, SqlDatabase } from "../../local/database/sql.ts";
import { baselineOf, readSchemaFiles } from "../../local/sql/schema_files.ts";
import { createLiteApp, type LiteSettings } from "../../local/lite/app.ts";
import { cachedFile, digestOf } from "../../local/cache.ts";
import { switchPlans } from "../../local/plans/switch_plans.ts";
import { holdToSchema } from "./answers.ts";
import { databaseInMemory } from "./memory_database.ts";
import { hasPlatform, newDatabase, newMigratedDatabase, withParts } from "./new_database.ts";

export interface TestDatabase extends SqlDatabase, AsyncDisposable {
  /** Calls `public.<name>(args)` like PostgREST: JSON in, one transaction, role `service_role`. */
  asService<Result>(name: string, args: Record<string, unknown>): Promise<Result>;
  /** Runs `work` in a transaction under a database role with these JWT claims. */
  asRole<Result>(
    role: "anon" | "authenticated" | "service_role",
    claims: Record<string, unknown>,
    work: (session: Session) => Promise<Result>,
  ): Promise<Result>;
  /** Empties every table that the schema files leave empty. */
  reset(): Promise<void>;
}

/** The database of a test file, which closes after the file's last test. */
export function sharedDatabase(): Promise<TestDatabase> {
  const opened = openDatabase();
  Deno.test.afterAll(async () => (await opened).close());
  return opened;
}

/**
 * Opens in about half a second: `await using database = await openDatabase()` closes it.
 * @param url of a server; without it the database is in memory.
 */
export async function openDatabase(url = Deno.env.get("TEST_DATABASE_URL")): Promise<TestDatabase> {
  if (!url) {
    const database = databaseInMemory({ template: databaseTemplate, prepare: switchPlansOn });
    return withHelpers(database, await (emptyInMemory ??= emptyTables(database)));
  }
  const database = await openOnServer(url);
  await switchPlansOn(database);
  return withHelpers(database, await emptyTables(database));
}

// Turns plans on, because without plans every feature is allowed, which would hide missing checks.
const switchPlansOn = (database: SqlDatabase) => switchPlans(database, "on");

/** All databases in memory share it. */
let emptyInMemory: Promise<EmptyTable[]> | undefined;

/** A database, and the session or pool of the API roles. */
type Opened = SqlDatabase & { api?: SqlDatabase };

export const SETTINGS: LiteSettings = {
  siteUrl: "http://127.0.0.1",
  jwtSecret: "only-for-tests-only-for-tests-only-for-tests",
  publishableKey: "sb_publishable_test",
  secretKey: "sb_secret_test",
};

// Tests also call pgTAP as the API roles, to which the migrations grant no execution by default.
const PGTAP = `
  create extension pgtap with schema extensions;
  grant execute on all functions in schema extensions to anon, authenticated, service_role`;

/**
 * The schema files, plus the migrations in the folder that `TEST_FURTHER_MIGRATIONS` names: a future version
 * (tests/upgrade/windows.ts). The suite `migrations` proves that the migrations create the same schema.
 */
export async function migrationsUnderTest(): Promise<Migration[]> {
  const further = Deno.env.get("TEST_FURTHER_MIGRATIONS");
  const schemas = { version: "0".repeat(14), name: "schemas", sql: baselineOf(await readSchemaFiles()) };
  return [schemas, ...further ? await readMigrations(new URL(further)) : []];
}

/** The folder of a PGlite with the schema, as one file. */
export async function databaseTemplate(): Promise<Blob> {
  const migrations = await migrationsUnderTest();
  const key = digestOf([await preparationDigest(migrations), PGTAP]);
  const file = await cachedFile(`database-${key}`, async () => {
    const connection = await createPgliteConnection({
      url: "memory://",
      pgliteOptions: { extensions, parsers, serializers },
    });
    const database = await pgliteDatabase(connection.driver);
    const createAuthTables = () => createLiteApp(connection, SETTINGS).ensureSystemSchema();
    await prepareDatabase(database, { createAuthTables, migrations });
    await database.exec(PGTAP);
    const dump = await connection.driver.dumpDataDir("none");
    await database.close();
    return new Uint8Array(await dump.arrayBuffer());
  });
  // The only part of Blob that PGlite reads. Deno would keep the bytes of a real Blob until the process ends, once per
  // test file.
  return { arrayBuffer: () => Promise.resolve(file.buffer), type: "application/x-tar" } as Blob;
}

async function openOnServer(serverUrl: string): Promise<Opened> {
  const migrations = await migrationsUnderTest();
  const { url, isPlatform, drop } = await hasPlatform(serverUrl)
    ? await newMigratedDatabase(serverUrl, migrations)
    : await newDatabase(serverUrl);
  const database = postgresDatabase(url);
  if (isPlatform) {
    // Allows more time per statement, because the machine may be busy.
    await database.exec(
      `alter role authenticator in database "${new URL(url).pathname.slice(1)}" set statement_timeout = '60s'`,
    );
  } else {
    await prepareDatabase(database, {
      async createAuthTables() {
        const connection = createPostgresConnection({ url });
        await createLiteApp(connection, SETTINGS).ensureSystemSchema();
        await connection.close();
      },
      migrations,
    });
  }
  // PostgREST logs in as authenticator, which has no rights until it becomes an API role. A pool allows concurrent
  // calls.
  const api = isPlatform ? postgresDatabase(withParts(url, { role: "authenticator" }), { max: 30 }) : database;
  return {
    ...database,
    api,
    async close() {
      if (api !== database) await api.close();
      await database.close();
      await drop();
    },
  };
}

function withHelpers(database: Opened, toEmpty: EmptyTable[]): TestDatabase {
  const asRole: TestDatabase["asRole"] = (role, claims, work) =>
    (database.api ?? database).transaction(async (session) => {
      await session.query("select set_config('request.jwt.claims', $1, true)", [JSON.stringify({ role, ...claims })]);
      await session.exec(`set local role ${role}`);
      return await work(session);
    });
  const inUse = toEmpty.map(({ name, sequences }) => {
    const counts = sequences.map((sequence) => ` or pg_sequence_last_value(${sequence}) is not null`).join("");
    return `select '${name}' as name where exists (select from ${name})${counts}`;
  });
  const signatures = new Map<string, Promise<Signature>>();
  return {
    ...database,
    asRole,
    async asService<Result>(name: string, args: Record<string, unknown>): Promise<Result> {
      if (!signatures.has(name)) signatures.set(name, signatureOf(database, name));
      const { types, returnsSet } = await signatures.get(name)!;
      const call = callOf(name, args, types);
      const answer = await asRole("service_role", {}, async (session) => {
        const rows = await session.query<{ result: unknown }>(call, [JSON.stringify(args)]);
        return returnsSet ? rows.map(({ result }) => result) : rows[0]?.result;
      });
      holdToSchema(name, answer, args.tool as string | undefined);
      return answer as Result;
    },
    async reset() {
      const [row] = await database.query<{ tables: string | null }>(
        `select string_agg(name, ', ') as tables from (${inUse.join(" union all ")}) as used`,
      );
      // The cascade is safe, because only initially empty tables refer to these tables.
      if (row?.tables) await database.exec(`truncate ${row.tables} restart identity cascade`);
    },
    [Symbol.asyncDispose]: database.close,
  };
}

interface Signature {
  /** SQL type by argument name. */
  types: Map<string, string>;
  returnsSet: boolean;
}

async function signatureOf(database: SqlDatabase, name: string): Promise<Signature> {
  const rows = await database.query<{ argument: string | null; type: string; returns_set: boolean }>(
    `select names.argument, format_type(types.oid, null) as type, proretset as returns_set
     from pg_proc
     left join lateral unnest(proargtypes) with ordinality as types (oid, position) on true
     left join lateral unnest(proargnames) with ordinality as names (argument, position) using (position)
     where pronamespace = 'public'::regnamespace and proname = $1`,
    [name],
  );
  if (rows.length === 0) throw new Error(`There is no function public.${name}`);
  return {
    types: new Map(rows.filter(({ argument }) => argument).map(({ argument, type }) => [argument!, type])),
    returnsSet: rows[0]!.returns_set,
  };
}

// The statement that PostgREST sends: the function's types parse its arguments from one JSON object.
function callOf(name: string, args: Record<string, unknown>, types: Map<string, string>): string {
  const names = Object.keys(args);
  const unknown = names.filter((argument) => !types.has(argument));
  if (unknown.length > 0) throw new Error(`public.${name} takes no argument ${unknown.join(", ")}`);
  const passed = names.map((argument) => `"${argument}" => args."${argument}"`).join(", ");
  const columns = names.map((argument) => `"${argument}" ${types.get(argument)}`).join(", ");
  return `select public."${name}"(${passed}) as result from ` +
    (names.length > 0 ? `json_to_record($1::json) as args (${columns})` : "(select $1::text) as args");
}

interface EmptyTable {
  name: string;
  /** Oids of the sequences of its identity columns. */
  sequences: number[];
}

async function emptyTables(database: SqlDatabase): Promise<EmptyTable[]> {
  const tables = await database.query<EmptyTable>(
    `select
      format('%I.%I', schemaname, tablename) as name,
      array(
        select objid::int from pg_depend
        join pg_class on pg_class.oid = objid and relkind = 'S'
        where refobjid = format('%I.%I', schemaname, tablename)::regclass and refclassid = 'pg_class'::regclass
          and classid = 'pg_class'::regclass and deptype in ('a', 'i')
      ) as sequences
     from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema', 'supabase_migrations', 'cron', 'net', 'vault')`,
  );
  const probes = tables.map(({ name }) => `select '${name}' as name where not exists (select from ${name})`);
  const empty = new Set((await database.query<{ name: string }>(probes.join(" union all "))).map(({ name }) => name));
  return tables.filter(({ name }) => empty.has(name));
}
