/**
 * A real PostgreSQL (15 or newer) as a `SqlDatabase`, through node-postgres: after a lost connection, its client
 * refuses every later statement. postgres.js reconnects a reserved connection, which would run the rest of a
 * transaction outside it (https://github.com/porsager/postgres/pull/1155).
 */
// @ts-types="@types/pg"
import pg from "pg";
import { isoTimestamp, type Session, type SqlDatabase } from "./sql.ts";

type Parser = (text: string) => unknown;

const { BYTEA, DATE, INT8, NUMERIC, TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;

/** Converts values as PostgREST would write them in JSON, by the type's oid. */
const parsers: Record<number, Parser> = {
  [TIMESTAMP]: isoTimestamp,
  [TIMESTAMPTZ]: isoTimestamp,
  [DATE]: String,
  [NUMERIC]: Number,
  [INT8]: (text) => Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text),
  [BYTEA]: String,
};

const TEXT_ARRAY: number = 1009;
const readTexts: (text: string) => (string | null)[] = pg.types.getTypeParser(TEXT_ARRAY);
/** Arrays of names, of bigints and of times, each with the parser of its elements. */
const arrays: [oid: number, parse: Parser][] = [
  [1003, String],
  [1016, parsers[INT8]!],
  [1115, isoTimestamp],
  [1182, String],
  [1185, isoTimestamp],
];
for (const [oid, parse] of arrays) {
  parsers[oid] = (text) => readTexts(text).map((one) => one === null ? one : parse(one));
}

/** Reads `sslmode` as psql and pg_dump do: `require` encrypts and trusts any certificate. */
const asLibpq = (url: string) => `${url}${url.includes("?") ? "&" : "?"}uselibpqcompat=true`;

const types = {
  getTypeParser: (oid: number, format?: "text" | "binary") => parsers[oid] ?? pg.types.getTypeParser(oid, format),
};

/** How long a statement waits for a free connection, like PostgREST's `db-pool-acquisition-timeout`. */
const WAIT_MS = 10_000;
const LISTEN_AGAIN_MS = 1_000;

/** @param url `postgres://…` of a superuser, or of the role that owns the schemas. */
export function postgresPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: asLibpq(url),
    max,
    types,
    connectionTimeoutMillis: WAIT_MS,
    // A new connection compiles and plans every function again.
    idleTimeoutMillis: 0,
    keepAlive: true,
  });
  // The pool replaces a lost connection. Without a listener, its error event would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  return pool;
}

/** @param url as for `postgresPool`. */
export function postgresDatabase(url: string, options: { max?: number } = {}): SqlDatabase {
  const pool = postgresPool(url, options.max ?? 4);
  const listeners: Listener[] = [];
  return {
    ...sessionOf(pool),
    async transaction(work) {
      const client = await pool.connect();
      try {
        await client.query("begin");
        const result = await work(sessionOf(client));
        const { command } = await client.query("commit");
        // PostgreSQL responds to the commit of a failed transaction with ROLLBACK instead of an error.
        if (command === "ROLLBACK") throw new Error("The transaction failed earlier and was rolled back");
        return result;
      } catch (thrown) {
        await client.query("rollback").catch(() => {});
        throw thrown;
      } finally {
        client.release();
      }
    },
    async listen(channel, onNotify) {
      listeners.push(await Listener.open(url, channel, onNotify));
    },
    async close() {
      await Promise.all([pool.end(), ...listeners.map((listener) => listener.close())]);
    },
  };
}

/** One connection for a channel, reopened after a loss. */
class Listener {
  #client: pg.Client | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  private constructor(
    private readonly url: string,
    private readonly channel: string,
    private readonly onNotify: () => void,
  ) {}

  static async open(url: string, channel: string, onNotify: () => void): Promise<Listener> {
    const listener = new Listener(url, channel, onNotify);
    await listener.#connect();
    return listener;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end();
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({ connectionString: asLibpq(this.url), keepAlive: true });
    client.on("error", () => {});
    client.on("notification", this.onNotify);
    await client.connect();
    await client.query(`listen ${pg.escapeIdentifier(this.channel)}`);
    client.on("end", () => this.#connectLater());
    this.#client = client;
    if (this.#isClosed) await client.end();
  }

  #connectLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      // The listener may have missed notifications in the meantime.
      this.#connect().then(this.onNotify, () => this.#connectLater());
    }, LISTEN_AGAIN_MS);
  }
}

function sessionOf(client: pg.Pool | pg.PoolClient): Session {
  return {
    query: async <Result extends object>(sql: string, params: readonly unknown[] = []) =>
      (await client.query(sql, [...params])).rows as Result[],
    exec: async (sql) => void await client.query(sql),
  };
}
