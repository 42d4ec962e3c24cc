import { assertEquals, assertRejects } from "@std/assert";
import { applyMigrations, MigrationError } from "../../local/database/migrations.ts";
import { migrationsUnderTest, sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const own = await migrationsUnderTest();
const further = (sql: string, version = "99991231235959") => [...own, { version, name: "further", sql }];

Deno.test("applyMigrations() applies missing migrations once, and records them as the Supabase CLI does", async () => {
  assertEquals(await applyMigrations(database, own), 0);
  const sql = "create table app.further (id int); create index on app.further (id);";
  assertEquals(await applyMigrations(database, further(sql)), 1);
  assertEquals(await applyMigrations(database, further(sql)), 0);
  const [row] = await database.query(
    "select name, statements from supabase_migrations.schema_migrations order by version desc limit 1",
  );
  assertEquals(row, { name: "further", statements: [sql] });
});

Deno.test("applyMigrations() refuses a file that was changed after it was applied", async () => {
  const version = "99991231235958";
  await applyMigrations(database, further("select 2", version));
  await assertRejects(
    () => applyMigrations(database, further("select 1", version)),
    MigrationError,
    "99991231235958_further.sql differs from the file this database was created with; restore that file",
  );
});

Deno.test("applyMigrations() rolls back a failing file and reports the position", async () => {
  const version = "99991231235957";
  await assertRejects(
    () =>
      applyMigrations(database, further("create table app.half (id int);\n\nselect nonsense from app.half;", version)),
    MigrationError,
    "99991231235957_further.sql line 3",
  );
  assertEquals(await database.query("select to_regclass('app.half') as half"), [{ half: null }]);
  assertEquals(
    await database.query("select from supabase_migrations.schema_migrations where version = $1", [version]),
    [],
  );
});
