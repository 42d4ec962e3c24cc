/**
 * Correction 4, needed only on a real PostgreSQL: a JSON argument reaches a function as a value, not as a string of
 * JSON.
 */
import { assertEquals } from "@std/assert";
import { createPostgresConnection } from "@supabase/lite/postgres";
import { types } from "../../local/database/postgres.ts";
import { createLiteApp } from "../../local/lite/app.ts";
import { correctConnection } from "../../local/lite/corrections.ts";
import { SETTINGS } from "../_support/database.ts";
import { newDatabase } from "../_support/new_database.ts";

const SERVER = Deno.env.get("TEST_DATABASE_URL");

Deno.test({
  name: "4. JSON arguments are encoded once",
  ignore: !SERVER,
  async fn(t) {
    const { url, drop } = await newDatabase(SERVER!);
    const kindOf = async (postgresOptions: object) => {
      const connection = createPostgresConnection({ url, postgresOptions: { onnotice: () => {}, ...postgresOptions } });
      const app = createLiteApp(connection, SETTINGS);
      await app.ensureSystemSchema();
      await connection.exec(`create or replace function public.kind_of(value jsonb) returns jsonb language sql as
        $$ select jsonb_build_object('kind', jsonb_typeof(value)) $$`);
      await correctConnection(connection);
      const response = await app.fetch(
        new Request(`${SETTINGS.siteUrl}/rest/v1/rpc/kind_of`, {
          method: "POST",
          headers: { apikey: SETTINGS.secretKey, "content-type": "application/json" },
          body: JSON.stringify({ value: { a: 1 } }),
        }),
      );
      const { kind } = await response.json();
      await connection.close();
      return kind;
    };
    await t.step("not in lite as shipped", async () => assertEquals(await kindOf({}), "string"));
    await t.step("with our types", async () => assertEquals(await kindOf({ types }), "object"));
    await drop();
  },
});
