/** Database calls of the reminders job: one transaction per page or batch. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import type { MailResult } from "../mail/delivery.ts";
import { StoredRates } from "../rates/refusal.ts";
import type { RateSet } from "../rates/rate_set.ts";
import { DigestContent } from "../reminders/content.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** `snapshot` can't be requested; the embedded stack uses it instead of a source. */
export type StoredSet = Omit<RateSet, "source"> & { source: RateSet["source"] | "snapshot" };

/** The start of the next page; null after the last. */
export type Cursor = unknown;

/** A half-open range of due dates; unlimited without an end. */
export const RollingPage = z.object({ from: z.unknown(), until: z.unknown() });
export type RollingPage = z.infer<typeof RollingPage>;

export const RolledPage = z.object({
  advanced: z.number(),
  /** Bills that could not be rolled, with their SQLSTATE. */
  failed: z.array(z.object({ ref: z.string(), code: z.string() })),
  /** Bills that another transaction was writing. */
  passed_over: z.number(),
});
export type RolledPage = z.infer<typeof RolledPage>;

export const ClaimedBatch = z.object({
  id: z.string(),
  lease_token: z.string(),
  attempts: z.number(),
  digests: z.array(z.object({ id: z.string(), recipient_id: z.string(), content: DigestContent })),
});
export type ClaimedBatch = z.infer<typeof ClaimedBatch>;

/** A digest whose contents could not be built; it waits an hour while the others continue. */
export const SetAside = z.object({ set_aside: z.string() });

export type RemindersStore = ReturnType<typeof createRemindersStore>;

export const ANSWERS = {
  count_reminder_candidates: z.number(),
  find_rolling_pages: z.array(RollingPage),
  roll_bills: RolledPage,
  collect_reminders: z.object({ digests: z.number(), reminders: z.number(), given_up: z.number(), next: z.unknown() }),
  claim_reminders: z.nullable(z.union([ClaimedBatch, SetAside])),
  settle_reminders: either(outcome(["settled"], { digests: z.number(), reminders: z.number() }), outcome(["lost"])),
  count_waiting_reminders: z.number(),
  read_newest_rates: z.object({ rates_on: z.nullable(z.string()), per_euro: StoredRates }),
  store_rates: z.object({ added: z.number() }),
  find_days_to_rate: z.array(z.string()),
  read_rates_of_day: StoredRates,
  settle_day: z.object({ settled: z.boolean() }),
  settle_values: z.object({ settled: z.number(), next: z.unknown() }),
};

/** Every method throws what `Database.call` throws. */
export function createRemindersStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    countCandidates: (at: Date) => ask("count_reminder_candidates", { at }),

    /** Pages of past due dates, in any order and for parallel rolling. */
    findRollingPages: ({ at, size }: { at: Date; size: number }) => ask("find_rolling_pages", { at, size }),

    /** Rolls the bills of one page. */
    rollBills: ({ page, at }: { page: RollingPage; at: Date }) => ask("roll_bills", { page, at }),

    /** Collects reminders for about `size` due bills, or a few more. `given_up` comes only with the first page. */
    collectReminders: ({ after, size, at }: { after: Cursor; size: number; at: Date }) =>
      ask("collect_reminders", { after, size, at }),

    /** Null when nothing is pending. */
    claimReminders: ({ size, at }: { size: number; at: Date }) => ask("claim_reminders", { size, at }),

    /** @param isLast releases the lease; mails not settled by then wait until `retryAt` */
    settleReminders: (
      { batch, results, isLast, retryAt, at }: {
        batch: ClaimedBatch;
        results: readonly MailResult[];
        isLast: boolean;
        retryAt: Date;
        at: Date;
      },
    ) =>
      ask("settle_reminders", {
        batch_id: batch.id,
        lease_token: batch.lease_token,
        results,
        is_last: isLast,
        retry_at: retryAt,
        at,
      }),

    countWaiting: (at: Date) => ask("count_waiting_reminders", { at }),

    /** `rates_on` is the newest stored day, of any currency. */
    readNewestRates: () => ask("read_newest_rates", {}),

    storeRates: ({ source, publishedOn, perEuro, days = {} }: StoredSet, at: Date) =>
      ask("store_rates", { source, published_on: publishedOn, per_euro: perEuro, days, at }),

    /** Past days whose rates the books need; days with the fewest attempts come first. */
    findDaysToRate: ({ at, size }: { at: Date; size: number }) => ask("find_days_to_rate", { at, size }),

    /** The rates that apply on a day. */
    readRatesOfDay: (day: string) => ask("read_rates_of_day", { day }),

    /** Records the attempt. A day is settled when all sources responded, or after the last attempt. */
    settleDay: ({ day, isAnswered, at }: { day: string; isAnswered: boolean; at: Date }) =>
      ask("settle_day", { day, is_answered: isAnswered, at }),

    /** Values a page of payments that wait for a rate. */
    settleValues: ({ after, size }: { after: Cursor; size: number }) => ask("settle_values", { after, size }),
  };
}
