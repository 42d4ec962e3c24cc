/**
 * Content negotiation of the connector. The SDK answers 406 unless both types are named, even to the bare wildcard that
 * real clients probe with. An `Accept` that allows JSON is therefore widened before the SDK sees it.
 */

const JSON_RANGES = new Set(["application/json", "application/*", "*/*"]);
const EVENT_STREAM = "text/event-stream";

const mediaRanges = (accept: string) => accept.split(",").map((range) => range.split(";", 1)[0]!.trim().toLowerCase());

/** Whether the caller asked for the event stream by name; a wildcard does not count. */
export function acceptsEventStream(accept: string | undefined): boolean {
  return mediaRanges(accept ?? "").includes(EVENT_STREAM);
}

/**
 * The `Accept` to pass to the SDK: both types when JSON is acceptable or the header is missing, otherwise the header
 * unchanged.
 */
export function widenAccept(accept: string | undefined): string {
  if (accept?.trim() && !mediaRanges(accept).some((range) => JSON_RANGES.has(range))) return accept;
  return `application/json, ${EVENT_STREAM}`;
}
