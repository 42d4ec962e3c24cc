/**
 * The database as the functions see it: SQL functions called over PostgREST, one request a call, as `service_role`.
 * Only the stores beside this file use it. Errors of the database never carry their text to a caller.
 */
import { PostgrestClient } from "@supabase/postgrest-js";
import { AppError } from "../errors.ts";
import type { Database as Generated } from "./database_types.ts";

/** The functions of schema public, as the CLI reads them from a database; a test compares the arguments that stores give them. */
export type FunctionName = keyof Generated["public"]["Functions"];

export interface Database {
  /**
   * Runs `public.<name>(args)` in one transaction and answers what it returns.
   * @param options `deadlineMs` for callers that are themselves waited for.
   * @throws {AppError} `unavailable` when the database cannot be reached or has no room, `internal` for anything else.
   */
  call<Result>(name: FunctionName, args: Record<string, unknown>, options?: { deadlineMs?: number }): Promise<Result>;
}

/** Longer than any statement may take (statement_timeout 8 s), so that a slow answer is the database's own word. */
const TIMEOUT_MS = 10_000;

/** @param url base of the platform's APIs; @param key privileged key. */
export function createDatabase(options: { url: string; key: string; fetch?: typeof fetch }): Database {
  const client = new PostgrestClient(`${options.url}/rest/v1`, {
    // A key of the older kind is a JWT, which PostgREST itself reads; the newer ones are opaque and mapped by the gateway.
    headers: { apikey: options.key, ...(options.key.startsWith("ey") && { authorization: `Bearer ${options.key}` }) },
    fetch: options.fetch,
  });
  return {
    async call<Result>(
      name: FunctionName,
      args: Record<string, unknown>,
      { deadlineMs = TIMEOUT_MS } = {},
    ): Promise<Result> {
      const { data, error, status } = await client.rpc(name, args).abortSignal(AbortSignal.timeout(deadlineMs));
      if (error) throw failure(name, status, error);
      return data as Result;
    },
  };
}

// SQLSTATE classes that say "not now": connection, resources, operator intervention, locks (PostgREST answers most of them 503/504/500).
// So do a function that is not there (42883) and one that PostgREST does not know yet (PGRST202): nothing ran, and the migration
// or the schema reload that is missing is under way.
const NOT_NOW = /^(08|53|57|55P03|40|42883$|PGRST00|PGRST202$)/;

function failure(name: string, status: number, error: { code?: string; message?: string }): AppError {
  // A success that cannot be read broke off on the way; what arrived of it is data, which is not for the log.
  const isBroken = status >= 200 && status < 300;
  const message = isBroken ? "broke off" : error.message ?? "";
  const cause = new Error(`${name} answered ${status} ${error.code ?? ""}: ${message}`.slice(0, 300));
  const isUnavailable = status === 0 || isBroken || status === 502 || status === 503 || status === 504 ||
    NOT_NOW.test(error.code ?? "");
  return isUnavailable
    ? new AppError("unavailable", "We couldn't reach our database.", {
      says: ({ databaseDown }) => databaseDown,
      cause,
      headers: { "retry-after": "5" },
    })
    : new AppError("internal", "Something went wrong on our side.", { cause });
}
