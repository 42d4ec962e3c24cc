/**
 * Waits for the SDK's complete response and returns it as JSON. In the older protocol revision, a client that asked
 * for progress but got none receives an event stream with one event.
 */
import { plainError } from "./plain_error.ts";

/** Ends only at a line feed: "." and "$" also stop at U+2028, which JSON may contain. */
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
