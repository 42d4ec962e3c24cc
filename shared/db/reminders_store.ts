/** Database calls of the reminders job: one transaction per page or batch. */
import type { MailResult } from "../mail/delivery.ts";
import type { StoredRates } from "../rates/refusal.ts";
import type { RateSet } from "../rates/rate_set.ts";
import type { DigestContent } from "../reminders/content.ts";
import type { Database } from "./client.ts";

/** `snapshot` can't be requested: the embedded stack uses it instead of a source. */
export type StoredSet = Omit<RateSet, "source"> & { source: RateSet["source"] | "snapshot" };

/** Where the next page starts; null after the last. */
export type Cursor = unknown;

/** A half-open range of due dates; open-ended without an end. */
export interface RollingPage {
  from: Cursor;
  until: Cursor;
}

export interface RolledPage {
  advanced: number;
  /** Bills that could not be rolled, with their SQLSTATE. */
  failed: { ref: string; code: string }[];
  /** Bills that another transaction was writing to. */
  passed_over: number;
}

export interface ClaimedBatch {
  id: string;
  lease_token: string;
  attempts: number;
  digests: { id: string; recipient_id: string; content: DigestContent }[];
}

/** A digest whose contents could not be built; it waits an hour while the others go on. */
export interface SetAside {
  set_aside: string;
}

export type RemindersStore = ReturnType<typeof createRemindersStore>;

/** Every method throws what `Database.call` throws. */
export function createRemindersStore(database: Database) {
  return {
    countCandidates: (at: Date) => database.call<number>("count_reminder_candidates", { at }),

    /** Pages of past due dates, to be rolled in any order and in parallel. */
    findRollingPages: ({ at, size }: { at: Date; size: number }) =>
      database.call<RollingPage[]>("find_rolling_pages", { at, size }),

    /** Rolls the bills of one page. */
    rollBills: ({ page, at }: { page: RollingPage; at: Date }) => database.call<RolledPage>("roll_bills", { page, at }),

    /** Collects reminders of about `size` due bills, or a few more. `given_up` comes with the first page only. */
    collectReminders: ({ after, size, at }: { after: Cursor; size: number; at: Date }) =>
      database.call<{ digests: number; reminders: number; given_up: number; next: Cursor }>("collect_reminders", {
        after,
        size,
        at,
      }),

    /** Null when nothing is pending. */
    claimReminders: ({ size, at }: { size: number; at: Date }) =>
      database.call<ClaimedBatch | SetAside | null>("claim_reminders", { size, at }),

    /** @param isLast releases the lease; mails not settled by then wait until `retryAt`. */
    settleReminders: (
      { batch, results, isLast, retryAt, at }: {
        batch: ClaimedBatch;
        results: readonly MailResult[];
        isLast: boolean;
        retryAt: Date;
        at: Date;
      },
    ) =>
      database.call<{ outcome: "settled"; digests: number; reminders: number } | { outcome: "lost" }>(
        "settle_reminders",
        { batch_id: batch.id, lease_token: batch.lease_token, results, is_last: isLast, retry_at: retryAt, at },
      ),

    countWaiting: (at: Date) => database.call<number>("count_waiting_reminders", { at }),

    /** `rates_on` is the newest day stored, of any currency. */
    readNewestRates: () => database.call<{ rates_on: string | null; per_euro: StoredRates }>("read_newest_rates", {}),

    storeRates: ({ source, publishedOn, perEuro, days = {} }: StoredSet, at: Date) =>
      database.call<{ added: number }>("store_rates", {
        source,
        published_on: publishedOn,
        per_euro: perEuro,
        days,
        at,
      }),

    /** Past days whose rates the books need, those that were asked for least first. */
    findDaysToRate: ({ at, size }: { at: Date; size: number }) =>
      database.call<string[]>("find_days_to_rate", { at, size }),

    /** The rates that hold on a day. */
    readRatesOfDay: (day: string) => database.call<StoredRates>("read_rates_of_day", { day }),

    /** Notes that the sources were asked; a day is settled when all of them answered, or after the last attempt. */
    settleDay: ({ day, isAnswered, at }: { day: string; isAnswered: boolean; at: Date }) =>
      database.call<{ settled: boolean }>("settle_day", { day, is_answered: isAnswered, at }),

    /** Gives a page of payments that wait for a rate the value that they have by now. */
    settleValues: ({ after, size }: { after: Cursor; size: number }) =>
      database.call<{ settled: number; next: Cursor }>("settle_values", { after, size }),
  };
}
