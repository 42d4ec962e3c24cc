import { assertEquals, assertRejects } from "@std/assert";
import { openDatabase } from "./database.ts";

Deno.test("openDatabase() applies the migrations and calls functions as service_role", async () => {
  await using database = await openDatabase();
  await database.exec(`
    create table public.thing (id bigint generated always as identity, on_day date, at timestamptz);
    create function public.echo(value jsonb, at timestamptz, n integer default 2) returns jsonb language sql
    as $$ select jsonb_build_object('value', value, 'at', at, 'n', n, 'role', current_user, 'claims', auth.jwt()) $$;
    create function public.numbers() returns setof integer language sql as $$ select generate_series(1, 3) $$;
    grant execute on all functions in schema public to service_role;`);
  const result = await database.asService("echo", { value: { a: [1] }, at: "2026-01-02T03:04:05Z" });
  assertEquals(result, {
    value: { a: [1] },
    at: "2026-01-02T03:04:05+00:00",
    n: 2,
    role: "service_role",
    claims: { role: "service_role" },
  });
  assertEquals(await database.asService("numbers", {}), [1, 2, 3]);
  await assertRejects(() => database.asService("nothing", {}), Error, "no function public.nothing");
  const [row] = await database.query("insert into public.thing (on_day, at) values ($1, $2) returning *", [
    "2026-02-03",
    "2026-02-03T01:00:00Z",
  ]);
  assertEquals(row, { id: 1, on_day: "2026-02-03", at: "2026-02-03T01:00:00+00:00" });
  assertEquals(await database.query("select current_user as name, auth.uid() as id"), [{
    name: "postgres",
    id: null,
  }]);
  await database.reset();
});
