/** What the reminders job asks of the database: one call a page or a batch, each one transaction. */
import type { MailResult } from "../mail/delivery.ts";
import type { StoredRates } from "../rates/refusal.ts";
import type { RateSet } from "../rates/rate_set.ts";
import type { DigestContent } from "../reminders/content.ts";
import type { Database } from "./client.ts";

/** Where the next page begins; null after the last. */
export type Cursor = unknown;

/** Due dates from one up to another; without the other, all that follow. */
export interface RollingPage {
  from: Cursor;
  until: Cursor;
}

export interface RolledPage {
  advanced: number;
  /** Those that could not be, with their SQLSTATE. */
  failed: { ref: string; code: string }[];
  /** How many somebody else is writing to. */
  passed_over: number;
}

export interface ClaimedBatch {
  id: string;
  lease_token: string;
  attempts: number;
  digests: { id: string; owner_id: string; content: DigestContent }[];
}

/** A digest that could not be described waits for an hour; the others do not. */
export interface SetAside {
  set_aside: string;
}

export type RemindersStore = ReturnType<typeof createRemindersStore>;

/** Every method throws what `Database.call` throws. */
export function createRemindersStore(database: Database) {
  return {
    countCandidates: (at: Date) => database.call<number>("count_reminder_candidates", { at }),

    /** Pages of due dates that have passed, to be rolled in any order and at once. */
    findRollingPages: ({ at, size }: { at: Date; size: number }) =>
      database.call<RollingPage[]>("find_rolling_pages", { at, size }),

    /** Rolls the bills of one page. */
    rollBills: ({ page, at }: { page: RollingPage; at: Date }) => database.call<RolledPage>("roll_bills", { page, at }),

    /** Of so many bills that are due, or a few more; `given_up` is only there with the first page. */
    collectReminders: ({ after, size, at }: { after: Cursor; size: number; at: Date }) =>
      database.call<{ digests: number; reminders: number; given_up: number; next: Cursor }>("collect_reminders", {
        after,
        size,
        at,
      }),

    /** Null when there is nothing to send. */
    claimReminders: ({ size, at }: { size: number; at: Date }) =>
      database.call<ClaimedBatch | SetAside | null>("claim_reminders", { size, at }),

    /** @param isLast gives the lease back; what is not settled by then waits until `retryAt`. */
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

    /** `rates_on` is the newest day that is kept, of any currency. */
    readNewestRates: () => database.call<{ rates_on: string | null; per_euro: StoredRates }>("read_newest_rates", {}),

    storeRates: ({ source, publishedOn, perEuro }: RateSet, at: Date) =>
      database.call<{ added: number }>("store_rates", { source, published_on: publishedOn, per_euro: perEuro, at }),
  };
}
