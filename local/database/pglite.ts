/**
 * PGlite (PostgreSQL 17 as WebAssembly) as a `SqlDatabase`. It has a single connection; its own lock serializes
 * transactions.
 */
import type { PGliteInterface, Transaction } from "@electric-sql/pglite";
import { citext } from "@electric-sql/pglite/contrib/citext";
import { pgcrypto } from "@electric-sql/pglite/contrib/pgcrypto";
import { pgtap } from "@electric-sql/pglite/pgtap";
import { isoTimestamp, type Session, type SqlDatabase } from "./sql.ts";

/** Extensions that migrations and tests may create. */
export const extensions = { citext, pgcrypto, pgtap };

const BOOLEAN = 16;
const TIMESTAMP = 1114;
const TIMESTAMPTZ = 1184;
const DATE = 1082;
const NUMERIC = 1700;
const BYTEA = 17;

/** Converts values as PostgREST would write them in JSON. */
export const parsers = {
  [TIMESTAMP]: isoTimestamp,
  [TIMESTAMPTZ]: isoTimestamp,
  [DATE]: (text: string) => text,
  [NUMERIC]: Number,
  [BYTEA]: (text: string) => text,
};

/** A boolean may arrive as text, as any other argument may. */
export const serializers = { [BOOLEAN]: String };

/** Hosted databases also search schema `extensions`. PGlite ignores role settings, so each session sets the path. */
const SEARCH_PATH = `set search_path = "$user", public, extensions`;

export async function pgliteDatabase(pglite: PGliteInterface): Promise<SqlDatabase> {
  await pglite.waitReady;
  await pglite.exec(SEARCH_PATH);
  return {
    ...sessionOf(pglite),
    transaction: (work) => pglite.transaction((transaction) => work(sessionOf(transaction))),
    listen: async (channel, onNotify) => void await pglite.listen(channel, onNotify),
    close: () => pglite.close(),
  };
}

function sessionOf(pglite: Pick<Transaction, "query" | "exec">): Session {
  return {
    query: async <Result extends object>(sql: string, params: readonly unknown[] = []) =>
      (await pglite.query<Result>(sql, [...params])).rows,
    exec: async (sql) => void await pglite.exec(sql),
  };
}
