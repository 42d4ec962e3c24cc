/** Database calls of the activity page. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { ChangeFacts } from "../words/change.ts";
import { EffectFacts } from "../words/facts.ts";
import { OrganizationState } from "../organization_state.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** A change of the books; after its contents are purged, only author, time and tool. */
export const Activity = z.object({
  id: z.string(),
  at: z.string(),
  change: ChangeFacts,
  tool: z.string(),
  /** Their address; null for a former member. */
  by: z.nullable(z.string()),
  /** Whether a job made the change. */
  is_automatic: z.boolean(),
  client_name: z.nullable(z.string()),
  is_emptied: z.boolean(),
  undone_by: z.nullable(z.string()),
  undoes: z.nullable(z.string()),
  proposal_id: z.nullable(z.string()),
  approved_by: z.nullable(z.string()),
  effects: z.optional(z.array(EffectFacts)),
  effects_count: z.optional(z.number()),
});
export type Activity = z.infer<typeof Activity>;

/** How often an app read on a UTC day. */
export const ReadCount = z.object({
  day: z.string(),
  by: z.nullable(z.string()),
  client_name: z.nullable(z.string()),
  count: z.number(),
});
export type ReadCount = z.infer<typeof ReadCount>;

/** The facts that an event's text needs. */
const EventDetail = z.looseObject({
  client_name: z.optional(z.nullable(z.string())),
  access: z.optional(z.string()),
  proposal_id: z.optional(z.string()),
  reason: z.optional(z.string()),
  role: z.optional(z.nullable(z.string())),
});
export type EventDetail = z.infer<typeof EventDetail>;

export const SecurityEvent = z.object({
  at: z.string(),
  event: z.string(),
  /** Their address; null for the service and for former members. */
  by: z.nullable(z.string()),
  detail: EventDetail,
});
export type SecurityEvent = z.infer<typeof SecurityEvent>;

/** A filter of changes; all parts are optional. Days are YYYY-MM-DD in the person's time zone. */
export interface ActivityFilter {
  id?: string;
  by?: string;
  app?: string;
  tool?: string;
  from?: string;
  to?: string;
  query?: string;
}

export const ActivityPage = outcome(["found"], {
  organizations: z.array(z.object({ id: z.string(), name: z.string() })),
  organization: z.object({ id: z.string(), name: z.string() }),
  country: z.string(),
  timezone: z.string(),
  state: OrganizationState,
  /** Whether the reader may change anything now, according to role, plan and state. */
  may_write: z.boolean(),
  changes: z.array(Activity),
  /** The key of the next page; null on the last page. */
  next: z.nullable(z.string()),
  /** Only on the first page. */
  reads: z.optional(z.array(ReadCount)),
  people: z.optional(z.array(z.object({ id: z.string(), name: z.string() }))),
  apps: z.optional(z.array(z.string())),
  events: z.optional(z.nullable(z.array(SecurityEvent))),
});
export type ActivityPage = z.infer<typeof ActivityPage>;

export type ActivityStore = ReturnType<typeof createActivityStore>;

export const ANSWERS = {
  read_activity: either(ActivityPage, outcome(["unknown"], { organizations: z.array(z.unknown()) })),
};

/** Every method throws what `Database.call` throws. */
export function createActivityStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** @param asked.organizationId the person's first organization if undefined */
    read: (
      { userId, organizationId, filter, before, at }: {
        userId: string;
        organizationId: string | undefined;
        filter: ActivityFilter;
        before: string | undefined;
        at: Date;
      },
    ) =>
      ask("read_activity", {
        user_id: userId,
        organization_id: organizationId ?? null,
        filter,
        before: before ?? null,
        at: at.toISOString(),
      }),
  };
}
