/**
 * Waits until a response of the SDK is complete. In the older era it is an event stream of one event even for clients
 * that accept only JSON; those get the event's data.
 */
import { plainError } from "./plain_error.ts";

/** Ends at a line feed only: to "." and "$", U+2028 ends a line too, which JSON may contain. */
const EVENT_DATA = /^data: ?([^\n]+)/m;

/** @param acceptsEventStream whether the client named that type. */
export async function bufferResponse(response: Response, acceptsEventStream: boolean): Promise<Response> {
  if (!response.body) return response;
  const text = await response.text();
  const isEventStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const headers = new Headers(response.headers);
  if (isEventStream && acceptsEventStream) {
    const plain = text.replace(EVENT_DATA, (_, data) => `data: ${plainError(data)}`);
    return new Response(plain, { status: response.status, headers });
  }
  const data = isEventStream ? EVENT_DATA.exec(text)?.[1] : undefined;
  if (data) headers.set("content-type", "application/json");
  return new Response(plainError(data ?? text), { status: response.status, headers });
}
