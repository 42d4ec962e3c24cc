/**
 * Maps SQLSTATE to HTTP status like PostgREST (docs: Errors). lite knows only some classes. For all others, including
 * plain `raise exception`, check violations and our own codes, it returns 500 with code `SUP` and loses the original
 * code.
 */

interface DatabaseFailure {
  code?: unknown;
  message?: string;
  detail?: string;
  hint?: string;
}

/** Codes that lite maps like PostgREST, and lite's own codes. */
const PASS_THROUGH = /^(PGRST|PT...|42...|22...|21...|25006|2350[235])$/;

/** The classes of SQLSTATEs by the statuses that are not 400. */
const FORBIDDEN = /^(0L|0P|28)/;
const UNAVAILABLE = /^(08|53(?!400)|57P01)/;
const SERVER_FAULT = /^(09|25|2D|38|39|3B|40|53|54|55|57|58|F0|HV|P0(?!001)|XX)/;

/** The operating system's code for a missing connection, and node-postgres's messages without a code. */
const NO_CONNECTION = /^E[A-Z]+$/;
const NO_CLIENT =
  /^(Connection terminated|Client (was closed|has encountered)|timeout exceeded when trying to connect)/;

const statusOf = (code: string): number =>
  FORBIDDEN.test(code) ? 403 : UNAVAILABLE.test(code) ? 503 : SERVER_FAULT.test(code) ? 500 : 400;

/**
 * The failure in the form of `raise sqlstate 'PGRST'`, which lite passes on unchanged. Returns other failures
 * unchanged.
 */
export function toWireError(failure: unknown): unknown {
  const { code, message, detail, hint } = (failure ?? {}) as DatabaseFailure;
  if (code === undefined && NO_CLIENT.test(message ?? "")) return wireError(503, { code: "PGRST001", message });
  if (typeof code !== "string") return failure;
  if (NO_CONNECTION.test(code)) return wireError(503, { code: "PGRST001", message });
  if (!/^[0-9A-Z]{5}$/.test(code) || PASS_THROUGH.test(code)) return failure;
  return wireError(statusOf(code), { code, message, detail, hint });
}

function wireError(status: number, { code, message, detail, hint }: DatabaseFailure) {
  return {
    code: "PGRST",
    message: JSON.stringify({ code, message, details: detail ?? null, hint: hint ?? null }),
    detail: JSON.stringify({ status, headers: {} }),
  };
}
