/**
 * Records stalls of seconds and their causes: statements of the service, autovacuum, and times in which this process
 * got no CPU. A rare failure within two hours leaves no other evidence.
 */
import { postgresDatabase } from "../../../local/database/postgres.ts";
import type { World } from "../world/world.ts";

const EVERY_MS = 250;
const LONG_MS = 2_000;
/** Only the newest remain, because a run ends with its failure. */
const MOST = 100;

const LONG = `
  select round(extract(epoch from clock_timestamp() - a.query_start) * 1000)::int as ms,
    concat_ws(' ', a.wait_event_type, a.wait_event) as waits, pg_blocking_pids(a.pid)::text as blockers, a.pid::text || a.query_start as id,
    left(regexp_replace(a.query, '\\s+', ' ', 'g'), 90) as query
  from pg_stat_activity as a
  where a.state <> 'idle' and a.datname = current_database()
    and (a.usename in ('authenticator', 'expenses') or a.backend_type = 'autovacuum worker')
    and a.query_start < clock_timestamp() - interval '${LONG_MS} ms'`;

interface Statement {
  ms: number;
  waits: string;
  blockers: string;
  /** The session and its start. */
  id: string;
  query: string;
}

export class Stalls {
  /** By statement, in its last observed state. */
  readonly #lines = new Map<string, string>();
  #isOver = false;
  readonly #watching: Promise<void>;

  constructor({ adminUrl }: World) {
    this.#watching = this.#watch(postgresDatabase(adminUrl, { max: 1 }));
  }

  get lines(): string[] {
    return [...this.#lines.values()];
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
      if (late > LONG_MS) this.#note(`${asked}`, `this process stood still for ${Math.round(late)} ms`);
      // If the test stopped PostgreSQL, there is nothing to record.
      for (const { id, ms, waits, blockers, query } of await database.query<Statement>(LONG).catch(() => [])) {
        this.#note(id, `for ${ms} ms, waits for ${waits || "nothing"} of ${blockers}: ${query}`);
      }
    }
    await database.close();
  }

  #note(id: string, what: string): void {
    this.#lines.set(id, `${new Date().toISOString()} ${what}`);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MOST) this.#lines.delete(oldest!);
  }
}
