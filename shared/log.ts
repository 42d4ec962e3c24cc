/**
 * Writes one JSON line per event; nothing else uses the console. Only the fields below can be logged, so spreading an
 * object cannot leak a secret. Request bodies, query strings and header values are never logged.
 */

/** All fields of a log line besides `at`, `level` and `event`. */
export interface LogFields {
  function?: string;
  request_id?: string;
  method?: string;
  route?: string;
  status?: number;
  duration_ms?: number;
  code?: string;
  reason?: string;
  outcome?: string;
  tool?: string;
  client_id?: string;
  grant_id?: string;
  organization_id?: string;
  count?: number;
  error?: string;
  host?: string;
}

export interface Log {
  info(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/**
 * @param write receives one line without a line break; defaults to standard error, which keeps standard output free.
 * @param base fields added to every line.
 */
// deno-lint-ignore no-console -- the one place
export function createLog(write: (line: string) => void = console.error, base: LogFields = {}): Log {
  const line = (level: string) => (event: string, fields: LogFields = {}) =>
    write(redact(JSON.stringify({ at: new Date().toISOString(), level, event, ...base, ...fields })));
  return { info: line("info"), error: line("error") };
}

/** Describes a thrown value for the log: class, message and causes, never its stack or properties. */
export function describeError(thrown: unknown): string {
  if (!(thrown instanceof Error)) return typeof thrown;
  const own = `${thrown.name}: ${thrown.message}`.slice(0, 500);
  return thrown.cause === undefined ? own : `${own} <- ${describeError(thrown.cause)}`;
}

// Redacts tokens, bearer values and secret keys in the finished line, because library messages may quote their input.
const SECRETS =
  /exp_(?:[ar]t|cal)_[\w-]+|sb_secret_\w+|(?<=Bearer )[^"\s]+|(?<=[?&](?:code|token|token_hash|secret|t)=)[^"&\s]+/g;
const redact = (line: string) => line.replace(SECRETS, "[redacted]");
