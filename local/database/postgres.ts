/** A real PostgreSQL (15 or newer) as a `SqlDatabase`. */
import postgres from "postgres";
import { isoTimestamp, type Session, type SqlDatabase } from "./sql.ts";

const asText = (oid: number, parse: (text: string) => unknown) => ({
  to: oid,
  from: [oid],
  serialize: (value: unknown) => value instanceof Date ? value.toISOString() : String(value),
  parse,
});

const asJson = (oid: number) => ({
  to: oid,
  from: [oid],
  // @supabase/lite passes serialized JSON; postgres.js would serialize it again.
  serialize: (value: unknown) => typeof value === "string" ? value : JSON.stringify(value),
  parse: (text: string) => JSON.parse(text),
});

/** Converts values in both directions as PostgREST would write them in JSON. */
export const types = {
  bool: { to: 16, from: [16], serialize: String, parse: (text: string) => text === "t" },
  json: asJson(114),
  jsonb: asJson(3802),
  timestamp: asText(1114, isoTimestamp),
  timestamptz: asText(1184, isoTimestamp),
  date: asText(1082, (text) => text),
  numeric: asText(1700, Number),
  bigint: asText(20, (text) => Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)),
  bytea: asText(17, (text) => text),
};

/** @param url `postgres://…` of a superuser, or of the role that owns the schemas. */
export function postgresDatabase(url: string, options: { max?: number } = {}): SqlDatabase {
  const client = postgres(url, { max: options.max ?? 4, onnotice: () => {}, types });
  return {
    ...sessionOf(client),
    transaction: <Result>(work: (session: Session) => Promise<Result>) =>
      client.begin((transaction) => work(sessionOf(transaction))) as Promise<Result>,
    listen: async (channel, onNotify) => void await client.listen(channel, onNotify),
    close: () => client.end({ timeout: 2 }),
  };
}

function sessionOf(client: { unsafe(sql: string, params?: never[]): PromiseLike<Iterable<unknown>> }): Session {
  return {
    query: async <Result extends object>(sql: string, params: readonly unknown[] = []) =>
      [...await client.unsafe(sql, params as never[])] as Result[],
    exec: async (sql) => void await client.unsafe(sql),
  };
}
