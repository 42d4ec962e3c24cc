/** Database calls of calendar feeds: one per read or change. */
import { either, outcome } from "../outcome.ts";
import { CalendarFacts } from "../calendar/facts.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { type Allowance, Limited, type Quota } from "./quota.ts";

/** Quotas for wrong tokens by caller, and for reads by calendar. The latter is absent when limits are off. */
export interface CalendarLimits {
  caller: readonly Quota[];
  feed?: Allowance;
}

type Owner = { userId: string; organizationId: string; at: Date };

export type CalendarStore = ReturnType<typeof createCalendarStore>;

export const ANSWERS = {
  read_calendar: either(outcome(["ok"], { calendar: CalendarFacts }), outcome(["unknown"]), Limited),
  create_calendar: outcome(["created", "refused"]),
  change_calendar: outcome(["changed", "unknown"]),
  end_calendar: outcome(["ended", "unknown"]),
};

/** Every method throws what `Database.call` throws. */
export function createCalendarStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /**
     * `unknown` for every token that may not read: never issued, revoked, of a suspended person, or without a plan
     * that includes the calendar.
     */
    read: ({ tokenHash, limits, at }: { tokenHash: string; limits: CalendarLimits; at: Date }) =>
      ask("read_calendar", { token_hash: tokenHash, limits, at }),

    /** Revokes the earlier address, if there is one. */
    create: ({ userId, organizationId, tokenHash, at }: Owner & { tokenHash: string }) =>
      ask("create_calendar", { user_id: userId, organization_id: organizationId, token_hash: tokenHash, at }),

    showAmounts: ({ userId, organizationId, showAmounts, at }: Owner & { showAmounts: boolean }) =>
      ask("change_calendar", { user_id: userId, organization_id: organizationId, show_amounts: showAmounts, at }),

    end: ({ userId, organizationId, at }: Owner) =>
      ask("end_calendar", { user_id: userId, organization_id: organizationId, at }),
  };
}
