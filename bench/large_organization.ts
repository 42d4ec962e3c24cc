/**
 * Builds one large organization in an empty migrated database and times its frequent reads.
 *
 *    deno run -A bench/large_organization.ts postgres://…/database [payments=1000000] [bills=5000]
 */
import { postgresDatabase } from "../local/database/postgres.ts";
import { buildLargeOrganization, HOT_READS, LARGE, readAs } from "./large_organization_reads.ts";

const CALLS = 40;

const [url, payments = "1000000", bills = "5000"] = Deno.args;
if (!url) throw new Error("Pass the URL of an empty migrated database.");
const print = (line: string) => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

const database = postgresDatabase(url, { max: 1 });
const [{ count }] = await database.query<{ count: number }>("select count(*)::int as count from app.payments") as [
  { count: number },
];
if (count === 0) await buildLargeOrganization(database, { payments: Number(payments), bills: Number(bills) });
for (const [tool, args] of HOT_READS) {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const start = performance.now();
    await readAs(database, LARGE, tool, args);
    times.push(performance.now() - start);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor(share * (CALLS - 1))]!.toFixed(1).padStart(7);
  print(`${tool} ${JSON.stringify(args)}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
}
await database.close();
