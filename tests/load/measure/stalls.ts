/**
 * What took seconds, and what it waited for: statements of the service and of autovacuum, and times at which the machine
 * gave this process nothing. A run that fails once in two hours leaves nothing else to go by.
 */
import { postgresDatabase } from "../../../local/database/postgres.ts";
import { withParts } from "../../_support/new_database.ts";
import type { World } from "../world/world.ts";

const EVERY_MS = 250;
const LONG_MS = 2_000;
/** The newest are kept: a run ends with what failed. */
const MOST = 60;

const LONG = `
  select round(extract(epoch from clock_timestamp() - a.query_start) * 1000)::int as ms,
    concat_ws(' ', a.wait_event_type, a.wait_event) as waits, pg_blocking_pids(a.pid)::text as blockers, a.pid,
    left(regexp_replace(a.query, '\\s+', ' ', 'g'), 90) as query
  from pg_stat_activity as a
  where a.state <> 'idle' and a.datname = current_database()
    and (a.usename = 'authenticator' or a.backend_type = 'autovacuum worker')
    and a.query_start < clock_timestamp() - interval '${LONG_MS} ms'`;

interface Statement {
  ms: number;
  waits: string;
  blockers: string;
  pid: number;
  query: string;
}

export class Stalls {
  readonly lines: string[] = [];
  #isOver = false;
  readonly #watching: Promise<void>;

  constructor({ databaseUrl }: World) {
    this.#watching = this.#watch(postgresDatabase(withParts(databaseUrl, { role: "supabase_admin" }), { max: 1 }));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  async #watch(database: ReturnType<typeof postgresDatabase>): Promise<void> {
    while (!this.#isOver) {
      const asked = performance.now();
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      const late = performance.now() - asked - EVERY_MS;
      if (late > LONG_MS) this.#note(`this process stood still for ${Math.round(late)} ms`);
      // Where PostgreSQL was ended on purpose, there is nothing to see.
      for (const one of await database.query<Statement>(LONG).catch(() => [])) {
        this.#note(`${one.pid} for ${one.ms} ms, waits for ${one.waits || "nothing"} of ${one.blockers}: ${one.query}`);
      }
    }
    await database.close();
  }

  #note(what: string): void {
    this.lines.push(`${new Date().toISOString()} ${what}`);
    if (this.lines.length > MOST) this.lines.shift();
  }
}
