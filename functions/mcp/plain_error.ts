/**
 * Rewrites the SDK's error for invalid parameters, which puts its schema library's findings into the message as JSON and blames the server. Here
 * it becomes a sentence, and the caller's fault (JSON-RPC 2.0 section 5.1).
 */
import { INVALID_PARAMS } from "../../shared/connector/json_rpc.ts";

/** How many findings an answer names; a request with more is best written anew. */
const MAX_FINDINGS = 3;

const FINDINGS = /"error":\{"code":-3260[23],"message":"[^"[]*\[/;

/** @param answer a JSON-RPC answer as text; comes back as it is unless it is such an error. */
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
