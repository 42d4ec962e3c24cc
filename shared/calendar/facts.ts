/** The database's results about a calendar (supabase/schemas/calendar/read_calendar.sql). */
import * as z from "zod/mini";

/** A day on which a bill is due. */
export const DueDate = z.object({
  bill_id: z.string(),
  name: z.string(),
  /** YYYY-MM-DD, in the owner's time zone. */
  due_on: z.string(),
  /** How many dates of the bill fall on that day; more than one only because of a weekend rule. */
  dates: z.number(),
  autopay: z.boolean(),
  /** When the bill or the date last changed. */
  changed_at: z.string(),
  /** A decimal string with its currency; absent when amounts are off or the amount is unknown. */
  amount: z.optional(z.string()),
  currency: z.optional(z.string()),
  is_estimate: z.optional(z.boolean()),
});
export type DueDate = z.infer<typeof DueDate>;

export const CalendarFacts = z.object({
  organization: z.string(),
  /** The reader's country, ISO 3166-1 alpha-2. */
  country: z.string(),
  /** Whether the year has more dates. */
  is_cut: z.boolean(),
  /** Sorted by day. */
  dates: z.array(DueDate),
});
export type CalendarFacts = z.infer<typeof CalendarFacts>;
