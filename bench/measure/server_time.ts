/**
 * The time of statements inside the server, without the network: the mean of a block of calls, from
 * pg_stat_statements, which the server must preload.
 */
import postgres from "postgres";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { type Signature, SIGNATURES, statementOf } from "../hops/statement.ts";

const UNTIMED = " offset 0";

export interface ServerTime {
  /**
   * Milliseconds of one call of `public.<name>`.
   * @param call.before runs first in the same transaction, untimed. The transaction is rolled back unless `keeps` is
   * set.
   */
  ofCall(call: Call, count: number): Promise<number>;
  /** The same for a prepared statement. */
  ofStatement(sql: string, params: string[], count: number): Promise<number>;
  close(): Promise<void>;
}

export interface Call {
  name: string;
  args: Record<string, unknown> | ((nth: number) => Record<string, unknown>);
  /** Runs calls in the same transaction before each timed one. @returns the arguments of the timed call. */
  before?: (
    call: (name: string, args: Record<string, unknown>) => Promise<unknown>,
  ) => Promise<Record<string, unknown>>;
  isExpected: (result: unknown) => boolean;
}

/** @param url connects as the role of PostgREST @param admin may read and reset the statistics */
export async function openServerTime(url: string, admin: SqlDatabase): Promise<ServerTime> {
  await admin.exec("create extension if not exists pg_stat_statements with schema extensions");
  const client = postgres(url, {
    max: 1,
    onnotice: () => {},
    connection: { role: "service_role", "request.jwt.claims": '{"role":"service_role"}' } as Record<string, string>,
  });
  const signatures = new Map((await client.unsafe<Signature[]>(SIGNATURES)).map((one) => [one.name, one]));
  const prepare = (name: string, args: Record<string, unknown>) => ({
    text: statementOf(signatures.get(name)!, Object.keys(args).toSorted()),
    params: [JSON.stringify(args)],
  });
  const reset = () => admin.query("select extensions.pg_stat_statements_reset()");
  const meanOf = async (calls: number) => {
    const rows = await admin.query<{ calls: number; ms: number }>(
      `select calls::int, total_exec_time as ms from extensions.pg_stat_statements
       where dbid = (select oid from pg_database where datname = current_database()) and toplevel
         and query like '%as result from%' and query not like '%${UNTIMED}'`,
    );
    const ours = rows.find((row) => row.calls === calls);
    if (!ours) throw new Error(`No statement was called ${calls} times: ${JSON.stringify(rows)}`);
    return ours.ms / calls;
  };
  const takenBack = new Error("taken back");
  return {
    async ofCall({ name, args, before, isExpected }, count) {
      await reset();
      for (let nth = 0; nth < count; nth++) {
        await client.begin(async (session) => {
          const run = async (name: string, args: Record<string, unknown>, suffix = "") => {
            const { text, params } = prepare(name, args);
            const [row] = await session.unsafe<{ result: string }[]>(text + suffix, params, { prepare: true });
            return JSON.parse(row!.result);
          };
          // Reads the statistics in a separate statement, which is not counted.
          const given = await before?.((name, args) => run(name, args, UNTIMED)) ??
            (typeof args === "function" ? args(nth) : args);
          const result = await run(name, given);
          if (!isExpected(result)) throw new Error(`${name} answered ${JSON.stringify(result).slice(0, 400)}`);
          throw takenBack;
        }).catch((thrown) => {
          if (thrown !== takenBack) throw thrown;
        });
      }
      return await meanOf(count);
    },
    async ofStatement(sql, params, count) {
      await reset();
      for (let nth = 0; nth < count; nth++) await client.unsafe(sql, params, { prepare: true });
      return await meanOf(count);
    },
    close: () => client.end({ timeout: 2 }),
  };
}
