/**
 * Gathers statistics of tables that have grown, as autovacuum does on a server. PGlite has no such process. Without
 * statistics, PGlite plans every query for empty tables, and each import is slower than the previous one.
 */
import type { SqlDatabase } from "../database/sql.ts";

const PAUSE_MS = 5_000;

/** Tables with more than a few rows whose pages have doubled since their last analysis. */
const GROWN = `
  select c.oid::regclass::text as name
  from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname in ('app', 'identity', 'oauth', 'billing', 'jobs')
    and pg_relation_size(c.oid) / current_setting('block_size')::int >= 2 * greatest(c.relpages, 1)`;

/** @returns the names of the tables that were analyzed. */
export async function gatherStatistics(database: SqlDatabase): Promise<string[]> {
  const grown = await database.query<{ name: string }>(GROWN);
  for (const { name } of grown) await database.exec(`analyze ${name}`);
  return grown.map(({ name }) => name);
}

/** Runs work after a delay, unless it is cancelled first. */
type Schedule = (work: () => void, ms: number) => () => void;

const schedule: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};

/** Analyzes some seconds after requests, and never when idle. */
export function startStatistics(database: SqlDatabase, onError: (error: unknown) => void, later = schedule) {
  let cancel: (() => void) | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return {
    noteRequest(): void {
      cancel ??= later(() => {
        cancel = undefined;
        running = gatherStatistics(database).catch(onError);
      }, PAUSE_MS);
    },
    async stop(): Promise<void> {
      cancel?.();
      await running;
    },
  };
}
