/**
 * Waits until a response of the SDK is complete, as JSON. In the older era it is an event stream of one event where a
 * client asked for progress and there was none to report.
 */
import { plainError } from "./plain_error.ts";

/** Ends at a line feed only: to "." and "$", U+2028 ends a line too, which JSON may contain. */
const EVENT_DATA = /^data: ?([^\n]+)/m;

export async function bufferResponse(response: Response): Promise<Response> {
  if (!response.body) return response;
  const { status, headers } = response;
  const text = await response.text();
  if (!headers.get("content-type")?.startsWith("text/event-stream")) {
    return new Response(plainError(text), { status, headers });
  }
  const data = EVENT_DATA.exec(text)?.[1] ?? text;
  return new Response(plainError(data), { status, headers: { "content-type": "application/json" } });
}
