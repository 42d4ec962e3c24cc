/**
 * Rewrites the SDK's error for invalid parameters. The SDK puts the issues of its schema library into the message as
 * JSON, and reports an internal error. The rewritten error is a sentence and a caller's error (JSON-RPC 2.0 section
 * 5.1).
 */
import { INVALID_PARAMS } from "../../shared/connector/json_rpc.ts";

/** The maximum number of issues that an answer lists. */
const MAX_FINDINGS = 3;

const FINDINGS = /"error":\{"code":-3260[23],"message":"[^"[]*\[/;

/** @param answer a JSON-RPC response as text; returned unchanged unless it is such an error. */
export function plainError(answer: string): string {
  if (!FINDINGS.test(answer)) return answer;
  const { error, ...rest } = JSON.parse(answer) as { error: { message: string } };
  const findings = readFindings(error.message);
  if (!findings) return answer;
  const message = findings.slice(0, MAX_FINDINGS).map(({ path, message }) => `${path.join(".")}: ${message}.`).join(
    " ",
  );
  return JSON.stringify({ ...rest, error: { code: INVALID_PARAMS, message } });
}

interface Finding {
  path: PropertyKey[];
  message: string;
}

function readFindings(message: string): Finding[] | undefined {
  try {
    return JSON.parse(message.slice(message.indexOf("[")));
  } catch {
    return undefined;
  }
}
