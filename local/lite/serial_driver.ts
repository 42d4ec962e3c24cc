/**
 * A Kysely driver for PGlite in which every lease of the connection is one PGlite transaction. lite's own driver sends
 * BEGIN, SET ROLE and COMMIT of concurrent requests down one connection without a lock, so requests could run with
 * another request's role and see its rows.
 */
import type { PGlite, Transaction } from "@electric-sql/pglite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";

// deno-lint-ignore no-explicit-any -- lite's connection is untyped in its tables
export function serialKysely(pglite: PGlite): Kysely<any> {
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new SerialDriver(pglite),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

class SerialDriver implements Driver {
  constructor(private readonly pglite: PGlite) {}

  acquireConnection(): Promise<Lease> {
    return Lease.open(this.pglite);
  }

  // The lease is already a transaction, so nothing begins here. A single statement commits when its lease is
  // released.
  async beginTransaction(): Promise<void> {}
  commitTransaction(lease: Lease): Promise<void> {
    return lease.end("commit");
  }
  rollbackTransaction(lease: Lease): Promise<void> {
    return lease.end("rollback");
  }
  releaseConnection(lease: Lease): Promise<void> {
    return lease.end("commit");
  }
  async init(): Promise<void> {}
  async destroy(): Promise<void> {}
}

class Lease implements DatabaseConnection {
  private ended = false;

  private constructor(
    private readonly transaction: Transaction,
    private readonly release: (how: "commit" | "rollback") => void,
    private readonly finished: () => Promise<void>,
  ) {}

  /** Waits its turn; no other statement reaches the database until the lease ends. */
  static open(pglite: PGlite): Promise<Lease> {
    const opened = Promise.withResolvers<Lease>();
    const finished: Promise<void> = pglite.transaction(async (transaction) => {
      const released = Promise.withResolvers<"commit" | "rollback">();
      opened.resolve(new Lease(transaction, released.resolve, () => finished));
      if (await released.promise === "rollback") await transaction.rollback();
    });
    finished.catch(opened.reject);
    return opened.promise;
  }

  async end(how: "commit" | "rollback"): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    this.release(how);
    await this.finished();
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows, affectedRows } = await this.transaction.query<Row>(query.sql, [...query.parameters]);
    return { rows, numAffectedRows: affectedRows === undefined ? undefined : BigInt(affectedRows) };
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error("PGlite cannot stream a result");
  }
}
