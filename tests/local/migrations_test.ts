import { assertEquals, assertRejects } from "@std/assert";
import { applyMigrations, MigrationError } from "../../local/database/migrations.ts";
import { migrationsUnderTest, openDatabase } from "../_support/database.ts";

Deno.test("applyMigrations()", async (t) => {
  const database = await openDatabase();
  const own = await migrationsUnderTest();
  const further = (sql: string) => [...own, { version: "99991231235959", name: "further", sql }];
  try {
    await t.step("applies missing migrations, once, and records it as the Supabase CLI does", async () => {
      assertEquals(await applyMigrations(database, own), 0);
      const sql = "create table app.further (id int); create index on app.further (id);";
      assertEquals(await applyMigrations(database, further(sql)), 1);
      assertEquals(await applyMigrations(database, further(sql)), 0);
      const [row] = await database.query(
        "select name, statements from supabase_migrations.schema_migrations order by version desc limit 1",
      );
      assertEquals(row, { name: "further", statements: [sql] });
    });

    await t.step("refuses a file that was changed after it was applied", async () => {
      await assertRejects(
        () => applyMigrations(database, further("select 1")),
        MigrationError,
        "99991231235959_further.sql differs from the file this database was created with; restore that file",
      );
    });

    await t.step("rolls back a file that fails, and says where it failed", async () => {
      await database.query("delete from supabase_migrations.schema_migrations where version = '99991231235959'");
      await assertRejects(
        () => applyMigrations(database, further("create table app.half (id int);\n\nselect nonsense from app.half;")),
        MigrationError,
        "99991231235959_further.sql line 3",
      );
      assertEquals(await database.query("select to_regclass('app.half') as half"), [{ half: null }]);
      assertEquals((await database.query("select from supabase_migrations.schema_migrations")).length, own.length);
    });
  } finally {
    await database.close();
  }
});
