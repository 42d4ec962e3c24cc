/** An event for an app, in the forms that polling and webhooks use. */
import * as z from "zod/mini";

/** A position in the order of events. */
export const Place = z.object({ at: z.string(), id: z.string() });
export type Place = z.infer<typeof Place>;

export const HeardEvent = z.object({
  id: z.string(),
  name: z.string(),
  at: z.string(),
  organization_id: z.string(),
  /** The first 100 records of the event. */
  ids: z.array(z.string()),
  count: z.number(),
});
export type HeardEvent = z.infer<typeof HeardEvent>;

export const occurrenceOf = ({ id, name, at, organization_id, ids, count }: HeardEvent) => ({
  eventId: id,
  name,
  timestamp: at,
  data: { organization_id, ids, count },
  cursor: cursorOf({ at, id }),
});

export const cursorOf = ({ at, id }: Place): string => `${at}~${id}`;

/** Undefined for an unknown event. */
export function placeOf(cursor: string): Place | undefined {
  const [, at, id] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d:\d\d)~((?:evt_[0-9a-z]{1,40})?)$/.exec(cursor) ?? [];
  return at !== undefined && id !== undefined && !Number.isNaN(Date.parse(at)) ? { at, id } : undefined;
}
