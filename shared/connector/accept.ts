/**
 * Content negotiation of the connector. The SDK returns 406 unless the header names both types, even for the bare
 * wildcard that real clients send to probe. Therefore the connector widens an `Accept` that allows JSON before the SDK
 * sees it.
 */

const JSON_RANGES = new Set(["application/json", "application/*", "*/*"]);
const EVENT_STREAM = "text/event-stream";

const mediaRanges = (accept: string) => accept.split(",").map((range) => range.split(";", 1)[0]!.trim().toLowerCase());

/** Whether the caller asked for the event stream by name; a wildcard does not count. */
export function acceptsEventStream(accept: string | undefined): boolean {
  return mediaRanges(accept ?? "").includes(EVENT_STREAM);
}

/**
 * The `Accept` for the SDK: both types when JSON is acceptable or the header is missing, otherwise the header
 * unchanged.
 */
export function widenAccept(accept: string | undefined): string {
  if (accept?.trim() && !mediaRanges(accept).some((range) => JSON_RANGES.has(range))) return accept;
  return `application/json, ${EVENT_STREAM}`;
}
