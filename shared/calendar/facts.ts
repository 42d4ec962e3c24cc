/** What the database answers about a calendar (supabase/schemas/calendar/read_calendar.sql). */

/** A day on which a bill is due. */
export interface DueDate {
  bill_id: string;
  name: string;
  /** YYYY-MM-DD, in the owner's time zone. */
  due_on: string;
  /** How many dates of the bill fall on that day: more than one only by a weekend rule. */
  dates: number;
  autopay: boolean;
  /** When the bill or the date was changed last. */
  changed_at: string;
  /** A decimal string, with its currency; absent when amounts are off or it is not known. */
  amount?: string;
  currency?: string;
  is_estimate?: boolean;
}

export interface CalendarFacts {
  organization: string;
  /** Of the reader: ISO 3166-1 alpha-2. */
  country: string;
  /** Whether there are more dates within the year. */
  is_cut: boolean;
  /** By day. */
  dates: DueDate[];
}
