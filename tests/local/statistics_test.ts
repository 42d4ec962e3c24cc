/** The embedded database gathers statistics only of tables that have grown. */
import { assert, assertEquals } from "@std/assert";
import { gatherStatistics, startStatistics } from "../../local/data_service/statistics.ts";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { openDatabase } from "../_support/database.ts";

Deno.test("gatherStatistics() analyzes a table once its pages have doubled, and not again before", async () => {
  const database = await openDatabase();
  const fill = (from: number, to: number) =>
    database.query(
      `insert into oauth.rate_buckets (key, full_at)
       select 'bucket of somebody ' || n, now() from generate_series($1::int, $2::int) as n`,
      [from, to],
    );
  const estimate = async () => {
    const [row] = await database.query<{ rows: number }>(
      "select reltuples::int as rows from pg_class where oid = 'oauth.rate_buckets'::regclass",
    );
    return row!.rows;
  };
  await gatherStatistics(database);
  assert(await estimate() <= 0);
  await fill(1, 1000);
  assertEquals(await gatherStatistics(database), ["oauth.rate_buckets"]);
  assertEquals(await estimate(), 1000);
  await fill(1001, 1300);
  assertEquals(await gatherStatistics(database), []);
  await fill(1301, 2500);
  assertEquals(await gatherStatistics(database), ["oauth.rate_buckets"]);
  await database.close();
});

Deno.test("startStatistics() checks once after many requests, again after further ones, and not after stop()", async () => {
  let looks = 0;
  const waiting = new Set<() => void>();
  const database = { query: () => Promise.resolve((looks++, [])) } as unknown as SqlDatabase;
  const statistics = startStatistics(database, () => {}, (work) => {
    waiting.add(work);
    return () => void waiting.delete(work);
  });
  const pass = () => {
    for (const work of waiting) {
      waiting.delete(work);
      work();
    }
  };
  pass();
  assertEquals(looks, 0);
  for (let round = 1; round <= 2; round++) {
    for (let request = 0; request < 20; request++) statistics.noteRequest();
    pass();
    assertEquals(looks, round);
  }
  statistics.noteRequest();
  await statistics.stop();
  pass();
  assertEquals(looks, 2);
});
