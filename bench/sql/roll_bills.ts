/**
 * `deno run -A bench/sql/roll_bills.ts [bills]`: what rolling and materialising cost on a throw-away PostgreSQL server, a million bills unless
 * said otherwise, beside the floor of the same run: one statement over a bare table. The second roll shows that cost follows what is due.
 */
import { postgresDatabase } from "../../local/database/postgres.ts";
import { startCluster } from "../../tests/_support/cluster.ts";
import { openDatabase, type TestDatabase } from "../../tests/_support/database.ts";

const AT = "2026-11-20T12:00:00Z";
const bills = Number(Deno.args[0] ?? 1_000_000);
const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
const read = (name: string) => Deno.readTextFile(new URL(name, import.meta.url));

const cluster = await startCluster();
try {
  const database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
  const [row] = await database.query<{ name: string }>("select current_database() as name");
  const admin = postgresDatabase(cluster.urlOf("supabase_admin", row!.name), { max: 1 });
  await admin.exec((await read("bills.sql")).replaceAll(":bills", String(bills)));
  await admin.exec(await read("roll_floor.sql"));
  await admin.exec("vacuum analyze");
  const [stale] = await database.query<{ count: number }>(
    "select count(*)::int as count from app.expenses where next_due < '2026-11-20'",
  );

  const floorMs = await timed(() =>
    admin.exec(`
    with rolled as (
      update public.floor_bill set next_due = (next_due + interval '1 month')::date where active and next_due < '2026-11-20'
      returning id, next_due, amount_minor
    ) insert into public.floor_reminder (bill_id, due_on, amount_minor) select id, next_due, amount_minor from rolled on conflict do nothing`)
  );
  let advanced = 0;
  const rollMs = await timed(async () => advanced = await rollAll(database));
  const againMs = await timed(() => rollAll(database));
  print(`${bills} bills, ${stale!.count} of them due`);
  print(`floor              ${floorMs} ms`);
  print(`roll_bills         ${rollMs} ms, ${advanced} bills, ${(rollMs / floorMs).toFixed(1)} times the floor`);
  print(`roll_bills again   ${againMs} ms`);

  await admin.close();
  await database.close();
} finally {
  await cluster.stop();
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.round(performance.now() - startedAt);
}

/** Every page; answers how many bills moved. */
async function rollAll(database: TestDatabase): Promise<number> {
  let total = 0;
  let after: unknown = null;
  do {
    const page: { advanced: number; next: unknown } = await database.asService("roll_bills", {
      at: AT,
      after,
      size: 5000,
    });
    total += page.advanced;
    after = page.next;
  } while (after !== null);
  return total;
}
