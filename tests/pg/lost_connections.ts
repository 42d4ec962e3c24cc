/** The behavior of one server's connections when PostgreSQL ends them: no statement runs outside its transaction. */
import { assertEquals, assertRejects } from "@std/assert";
import { sql } from "kysely";
import { openDatabase } from "../../local/data_service/connection.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { toWireError } from "../../local/lite/wire_errors.ts";
import { newDatabase } from "../_support/new_database.ts";
import { waitFor } from "../_support/wait_for.ts";

const { url, drop } = await newDatabase(Deno.env.get("TEST_DATABASE_URL")!);
const admin = postgresDatabase(url, { max: 1 });
await admin.exec("create table public.writes (writer text)");
const { connection, database, close } = await openDatabase({ url });
const { kysely } = connection;
Deno.test.afterAll(async () => {
  await Promise.all([close(), admin.close()]);
  await drop();
});

/** Ends a session and waits until its process is gone. */
async function end(pid: number): Promise<void> {
  await admin.query("select pg_terminate_backend($1)", [pid]);
  await waitFor(async () =>
    (await admin.query("select from pg_stat_activity where pid = $1", [pid])).length === 0 || undefined
  );
}

const written = async () =>
  (await admin.query<{ writer: string }>("select writer from public.writes order by writer")).map(({ writer }) =>
    writer
  );

Deno.test("a request whose connection ends midway fails while others wait for a connection", async () => {
  const others: Promise<unknown>[] = [];
  const cut = kysely.transaction().execute(async (transaction) => {
    await sql`insert into public.writes values ('cut, before')`.execute(transaction);
    const { rows: [row] } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
    // More requests than connections, so that one waits for this connection's place.
    for (let nth = 0; nth < 12; nth++) {
      others.push(
        kysely.transaction().execute(async (other) => {
          await sql`select set_config('app.writer', ${`other ${nth}`}, true), pg_sleep(0.2)`.execute(other);
          await sql`insert into public.writes values (current_setting('app.writer'))`.execute(other);
        }),
      );
    }
    await end(row!.pid);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await sql`select set_config('app.writer', 'cut, after', true)`.execute(transaction);
    await sql`insert into public.writes values ('cut, after')`.execute(transaction);
  });
  const thrown = await assertRejects(() => cut, Error);
  assertEquals(JSON.parse((toWireError(thrown) as { detail: string }).detail).status, 503);
  await Promise.all(others);
  assertEquals(await written(), Array.from({ length: 12 }, (_, nth) => `other ${nth}`).toSorted());
});

Deno.test("a transaction whose connection ends midway throws and leaves nothing", async () => {
  await admin.exec("truncate public.writes");
  const cut = database.transaction(async (session) => {
    await session.exec("insert into public.writes values ('before')");
    const [row] = await session.query<{ pid: number }>("select pg_backend_pid() as pid");
    await end(row!.pid);
    const others = Array.from({ length: 6 }, () => database.query("select pg_sleep(0.05)"));
    await session.exec("insert into public.writes values ('after')").finally(() => Promise.all(others));
  });
  await assertRejects(() => cut);
  assertEquals(await written(), []);
});

Deno.test("a swallowed failure can't turn a commit into a silent rollback", async () => {
  const swallowing = database.transaction(async (session) => {
    await session.exec("insert into public.writes values ('lost')");
    await session.exec("select 1 / 0").catch(() => {});
  });
  await assertRejects(() => swallowing, Error, "rolled back");
});

Deno.test("a listener listens again after its connection ended", async () => {
  let heard = 0;
  await database.listen("lost_connections", () => heard++);
  const [row] = await admin.query<{ pid: number }>("select pid from pg_stat_activity where query ~* '^listen'");
  await end(row!.pid);
  const hears = (times: number) => waitFor(() => Promise.resolve(heard === times || undefined));
  await hears(1);
  await admin.exec("notify lost_connections");
  await hears(2);
});
