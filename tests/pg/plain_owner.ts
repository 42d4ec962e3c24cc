/** `--db` with an ordinary owner of a database, not a superuser, is refused with an explanation before any change. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { findBinaries, startServer } from "../_support/server.ts";
import { runStart } from "../_support/start_command.ts";

Deno.test("task start reports that an ordinary database owner can't create Supabase's roles", async () => {
  const server = await startServer(await findBinaries(), { superuser: "postgres", settings: {} });
  const urlOf = (role: string, database: string) => `postgres://${role}@127.0.0.1:${server.port}/${database}`;
  const folder = await Deno.makeTempDir();
  try {
    const admin = postgresDatabase(urlOf("postgres", "postgres"), { max: 1 });
    await admin.exec("create role plain login");
    await admin.exec("create database books owner plain");
    await admin.close();
    const url = urlOf("plain", "books");
    const { code, stdout, stderr } = await runStart("--port", "0", "--data", folder, "--db", url);
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "The stack did not start: The database needs the roles and schemas that Supabase has");
    assertStringIncludes(stderr, "run local/database/server.sql first");
    assertStringIncludes(stderr, "PostgreSQL said: permission denied to create role");

    const books = postgresDatabase(url, { max: 1 });
    const schemas = await books.query("select from pg_namespace where nspname in ('auth', 'app', 'extensions')");
    assertEquals(schemas.length, 0);
    await books.close();
  } finally {
    await server.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
