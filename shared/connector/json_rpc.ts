/**
 * The part of JSON-RPC 2.0 that the connector handles itself; the SDK handles the rest. Our own error codes encode the
 * HTTP status (−31000 − status) and lie outside −32768…−32000, which JSON-RPC and MCP reserve.
 */

export const INVALID_REQUEST = -32600;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export type RequestId = string | number | null;

export interface JsonRpcError {
  /** HTTP status. */
  status: number;
  message: string;
  /** Derived from the status when absent. */
  code?: number;
  data?: Record<string, unknown>;
  /** `null` if there is no single readable request. */
  id?: RequestId;
  headers?: Record<string, string>;
}

/** An error response; never cached. */
export function errorResponse(
  { status, message, code = codeOfStatus(status), data, id = null, headers }: JsonRpcError,
) {
  return Response.json(
    { jsonrpc: "2.0", error: { code, message, ...(data && { data }) }, id },
    { status, headers: { "cache-control": "no-store", ...headers } },
  );
}

const codeOfStatus = (status: number) => status === 500 ? INTERNAL_ERROR : -31000 - status;

/** The parts of a request or notification that the connector needs before the SDK parses it. */
export interface Message {
  method?: string;
  id: RequestId;
  /** `params.name` of a `tools/call`. */
  toolName?: string;
  /** Whether the client asks for progress reports. */
  wantsProgress: boolean;
}

/** Every event repeats the token. The SDKs use a number, so the connector ignores longer tokens. */
const MAX_PROGRESS_TOKEN = 256;

/** @param value a parsed body of any shape. */
export function readMessage(value: unknown): Message {
  const { method, id, params } = asRecord(value);
  const { name, _meta } = asRecord(params);
  const { progressToken: token } = asRecord(_meta);
  return {
    method: typeof method === "string" ? method : undefined,
    id: typeof id === "string" || typeof id === "number" ? id : null,
    toolName: typeof name === "string" ? name : undefined,
    wantsProgress: typeof token === "number" || (typeof token === "string" && token.length <= MAX_PROGRESS_TOKEN),
  };
}

/** Whether lists and objects nest deeper than `most`, because recursion uses stack. */
export function nestsDeeper(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return most === 0 || Object.values(value).some((item) => nestsDeeper(item, most - 1));
}

const asRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
