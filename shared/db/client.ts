/**
 * The database as the functions see it: SQL functions called over PostgREST as `service_role`, one request per call.
 * Only the stores in this folder use it. Database error messages never reach a caller.
 */
import { PostgrestClient } from "@supabase/postgrest-js";
import { systemTimer, type Timer } from "../clock.ts";
import { AppError } from "../errors.ts";
import { currentRequest } from "../http/current_request.ts";
import { REQUEST_ID_HEADER } from "../routes.ts";

export interface Database {
  /**
   * Runs `public.<name>(args)` in one transaction and returns its result.
   * @param options `deadlineMs` for callers with their own deadline; `isRead` for a call that only reads although its
   *   name does not show it.
   * @throws {AppError} `unavailable` when the database is unreachable or overloaded, `internal` for anything else.
   */
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
}

export interface CallOptions {
  deadlineMs?: number | undefined;
  isRead?: boolean;
}

/** Longer than any statement may take (statement_timeout 8 s), so that the database times out first. */
const TIMEOUT_MS = 10_000;
/** These functions change nothing but request counters. */
const READS = /^(read|list|find)_|^(ping|authenticate_bearer)$/;
/** The server closed the connection. If several pooled connections broke together, each costs one call. */
const CONNECTION_ENDED = "57P01";

/** @param url base of the platform's APIs; @param key privileged key. */
export function createDatabase(
  { url, key, fetch: send = fetch, timer = systemTimer, now = () => performance.now() }: {
    url: string;
    key: string;
    fetch?: typeof fetch;
    timer?: Timer;
    now?: () => number;
  },
): Database {
  const client = new PostgrestClient(`${url}/rest/v1`, {
    headers: {
      apikey: key,
      // Legacy keys are JWTs, which PostgREST reads itself; newer ones are opaque and mapped by the gateway.
      ...(key.startsWith("ey") && { authorization: `Bearer ${key}` }),
    },
    fetch: (input, init) => {
      const body = storable((init as { body: string }).body);
      return body === null ? Promise.resolve(Response.json({ code: HAS_NUL }, { status: 400 })) : send(input, {
        ...init,
        body,
      });
    },
  });
  return {
    async call(name, args, { deadlineMs, isRead = READS.test(name) } = {}) {
      // One deadline for all calls of a page, because with a locked table each call would otherwise wait the full
      // time for the same lock.
      const request = deadlineMs === undefined ? currentRequest() : undefined;
      const waitMs = deadlineMs ?? Math.min(TIMEOUT_MS, request?.databaseMs ?? TIMEOUT_MS);
      const startedAt = now();
      try {
        const answer = await ask(name, args, waitMs);
        const isRepeated = isRead && "error" in answer && answer.error.code === CONNECTION_ENDED;
        const last = isRepeated ? await ask(name, args, waitMs - (now() - startedAt)) : answer;
        if ("error" in last) throw failure(name, last.status, last.error);
        return last.data;
      } finally {
        if (request?.databaseMs !== undefined) request.databaseMs -= now() - startedAt;
      }
    },
  };

  async function ask(name: string, args: Record<string, unknown>, waitMs: number): Promise<Answer> {
    if (waitMs <= 0) return { status: 0, error: { message: "no time is left for this request" } };
    const abort = new AbortController();
    const cancel = timer(waitMs, () => abort.abort(new DOMException("Signal timed out.", "TimeoutError")));
    try {
      const call = client.rpc(name, args).abortSignal(abort.signal);
      for (const [header, value] of requestHeaders()) call.setHeader(header, value);
      const { data, error, status } = await call;
      // The package mistakes a 404 without a body for a 204, which functions with a result never return.
      return error ? { status, error } : { data: status === 204 ? undefined : data };
    } finally {
      cancel();
    }
  }
}

/** JSON escapes of a lone surrogate and of NUL, both of which PostgreSQL refuses. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
const NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/** The code that PostgreSQL uses. */
const HAS_NUL = "22P05";

/**
 * JSON that PostgreSQL can store, even if a text was cut within a character; null if it contains NUL, which no text
 * may contain.
 */
function storable(body: string): string | null {
  if (!/\\u(?:d|0000)/.test(body)) return body;
  return NUL.test(body) ? null : body.replace(HALF, "$1\ufffd");
}

/** For the database's log (app.request_name) and the API's log, which keeps few headers. */
function requestHeaders(): [name: string, value: string][] {
  const id = currentRequest()?.id;
  return id ? [[REQUEST_ID_HEADER, id], ["x-client-info", `expenses request ${id}`]] : [];
}

/** PostgREST's description of an error; only `message` if a gateway in front of PostgREST responded. */
interface DatabaseError {
  code?: string;
  message?: string;
}
/** Status 0: no response, or an incomplete one. */
type Answer = { data: unknown } | { status: number; error: DatabaseError };

// Temporary failures by SQLSTATE class: connection, resources, operator intervention, locks (PostgREST maps most of
// them to 503/504/500). Also a missing function (42883) and one that PostgREST does not know yet (PGRST202): no
// statement ran, and a migration or schema reload is probably under way.
const TEMPORARY = /^(08|53|57|55P03|40|42883$|PGRST00|PGRST202$)/;

/** Error codes of PostgreSQL and PostgREST; a gateway in front of them uses other codes or none. */
const DATABASE_CODE = /^(?:[0-9A-Z]{5}|PGRST\w+)$/;

function isTemporary(status: number, code = ""): boolean {
  if (status === 502 || status === 503 || status === 504) return true;
  // Such as 429, 522, 540 and 544.
  return DATABASE_CODE.test(code) ? TEMPORARY.test(code) : status === 429 || status >= 500;
}

function failure(name: string, status: number, error: DatabaseError): AppError {
  if (error.code === HAS_NUL) {
    return new AppError("invalid_request", "The text contains a NUL character, which can't be stored.");
  }
  // A truncated success: the received part is user data, so the log must not contain it.
  const isBroken = status >= 200 && status < 300;
  const message = isBroken ? "broke off" : error.message ?? "";
  const cause = new Error(`${name} answered ${status} ${error.code ?? ""}: ${message}`.slice(0, 300));
  const isUnavailable = status === 0 || isBroken || isTemporary(status, error.code);
  return isUnavailable
    ? new AppError("unavailable", "We couldn't reach our database.", {
      says: ({ databaseDown }) => databaseDown,
      cause,
      headers: { "retry-after": "5" },
    })
    : new AppError("internal", "Something went wrong on our side.", { cause });
}
