/** The SQL database interface of the embedded stack and the tests, implemented by PGlite and PostgreSQL. */

/** A row by column name: timestamps as ISO 8601, dates as `YYYY-MM-DD`, bigints as numbers if exact. */
export type Row = Record<string, unknown>;

export interface Session {
  /** Runs one statement with `$1` … parameters. */
  query<Result extends object = Row>(sql: string, params?: readonly unknown[]): Promise<Result[]>;
  /** Runs any number of statements, without parameters. */
  exec(sql: string): Promise<void>;
}

export interface SqlDatabase extends Session {
  /** Runs `work` in its own transaction: committed when it resolves, rolled back when it throws. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  /** Calls `onNotify` on each notification of a channel, until the database is closed. */
  listen(channel: string, onNotify: () => void): Promise<void>;
  close(): Promise<void>;
}

/** `2026-01-02 03:04:05.678901+00` as PostgREST and `to_jsonb` write it: `2026-01-02T03:04:05.678901+00:00`. */
export function isoTimestamp(text: string): string {
  return text.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00");
}
