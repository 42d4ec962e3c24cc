/**
 * The statements that turn one database into another, computed from their catalogs by Supabase's own pg-delta, which
 * the CLI also uses to write migrations. pg-delta ignores rows that a schema inserts (currencies, plans, jobs), so
 * this module compares them.
 */
import { renderPlanFiles } from "@supabase/pg-delta/frontends";
import { resolveProfile, supabaseProfile } from "@supabase/pg-delta/integrations";
import { plan } from "@supabase/pg-delta/plan";
// @ts-types="@types/pg"
import pg from "pg";
import { postgresDatabase } from "../../local/database/postgres.ts";

export interface Difference {
  /** One line per difference. Empty when the catalogs match; column order does not count. */
  lines: string[];
  /** The statements that turn the first into the second, in order. */
  sql: string;
  /** Statements that lose data or code or rewrite a table, for a person's review. */
  warnings: string[];
  /** Rows that a new database has on only one side. */
  rows: string[];
}

/** @param urls of databases that contain only the rows of their schema */
export async function differenceOf(urls: { from: string; to: string }): Promise<Difference> {
  const pools = [urls.from, urls.to].map((connectionString) => new pg.Pool({ connectionString, max: 2 }));
  try {
    const [from, to] = pools as [pg.Pool, pg.Pool];
    const profile = await resolveProfile(from, supabaseProfile);
    const [source, target] = [await profile.extract(from), await profile.extract(to)];
    const planned = plan(source.factBase, target.factBase, profile.planOptions);
    return {
      lines: planned.deltas.map((delta) => JSON.stringify(delta)),
      sql: renderPlanFiles(planned, { allowDrops: true }).files.map(({ contents }) => contents.trim()).join("\n\n"),
      warnings: planned.actions.flatMap(({ sql, verb, dataLoss, rewriteRisk }) => {
        if (dataLoss === "destructive") return [`loses data: ${firstLine(sql)}`];
        if (verb === "drop") return [`drops: ${firstLine(sql)}`];
        return rewriteRisk ? [`rewrites a table while it is locked: ${firstLine(sql)}`] : [];
      }),
      rows: await rowDifference(urls),
    };
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
}

const firstLine = (sql: string) => sql.trim().split("\n")[0]!;

const SCHEMAS = ["public", "identity", "oauth", "billing", "app", "jobs"];

async function rowDifference(urls: { from: string; to: string }): Promise<string[]> {
  const [from, to] = await Promise.all([rowsIn(urls.from), rowsIn(urls.to)]);
  return [
    ...[...to].filter((row) => !from.has(row)).map((row) => `lacks ${row}`),
    ...[...from].filter((row) => !to.has(row)).map((row) => `has ${row} too many`),
  ];
}

async function rowsIn(url: string): Promise<Set<string>> {
  const database = postgresDatabase(url, { max: 1 });
  try {
    const tables = await database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any ($1)`,
      [SCHEMAS],
    );
    const rows = new Set<string>();
    for (const { name } of tables) {
      // Timestamps of row creation do not count.
      const query = `select to_jsonb(t) - array['created_at', 'updated_at'] as row from ${name} as t`;
      for (const { row } of await database.query(query)) rows.add(`${name} ${JSON.stringify(row)}`);
    }
    for (const job of await database.query("select jobname, schedule, command from cron.job")) {
      rows.add(`cron.job ${JSON.stringify(job)}`);
    }
    return rows;
  } finally {
    await database.close();
  }
}
