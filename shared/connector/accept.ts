/**
 * What a caller of the connector accepts. The SDK answers 406 unless both types are named, even to a bare wildcard, which
 * is what real clients probe with; so an `Accept` that has room for JSON is widened before the SDK sees it.
 */

const JSON_RANGES = new Set(["application/json", "application/*", "*/*"]);
const EVENT_STREAM = "text/event-stream";

const mediaRanges = (accept: string) => accept.split(",").map((range) => range.split(";", 1)[0]!.trim().toLowerCase());

/** Whether the caller named the event stream itself; a wildcard does not ask for one. */
export function acceptsEventStream(accept: string | undefined): boolean {
  return mediaRanges(accept ?? "").includes(EVENT_STREAM);
}

/** The `Accept` to hand to the SDK: both types when JSON is welcome or nothing was said, else what was sent. */
export function widenAccept(accept: string | undefined): string {
  if (accept?.trim() && !mediaRanges(accept).some((range) => JSON_RANGES.has(range))) return accept;
  return `application/json, ${EVENT_STREAM}`;
}
