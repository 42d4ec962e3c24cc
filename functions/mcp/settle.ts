/**
 * Waits for an answer of the SDK to be complete. In the older era it is an event stream of one event even for a client
 * that asked for JSON alone; such a client gets the event's data.
 */

/** @param acceptsEventStream whether the client itself named the type. */
export async function settle(response: Response, acceptsEventStream: boolean): Promise<Response> {
  if (!response.body) return response;
  const text = await response.text();
  const isEventStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const data = isEventStream && !acceptsEventStream ? /^data: ?(.+)$/m.exec(text)?.[1] : undefined;

  const headers = new Headers(response.headers);
  if (data) headers.set("content-type", "application/json");
  return new Response(data ?? text, { status: response.status, headers });
}
