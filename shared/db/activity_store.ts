/** Database calls of the activity page. */
import type { ChangeFacts } from "../words/change.ts";
import type { Facts } from "../words/message.ts";
import type { OrganizationState } from "../organization_state.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

/** A change of the books; of an emptied one only who made it, when and with what. */
export interface Activity {
  id: string;
  at: string;
  change: ChangeFacts;
  tool: string;
  /** Their address; null for a former member. */
  by: string | null;
  /** Made by a job, not by a person. */
  is_automatic: boolean;
  client_name: string | null;
  is_emptied: boolean;
  undone_by: string | null;
  undoes: string | null;
  proposal_id: string | null;
  approved_by: string | null;
  effects?: Facts[];
  effects_count?: number;
}

/** How often an app read on a UTC day. */
export interface ReadCount {
  day: string;
  by: string | null;
  client_name: string | null;
  count: number;
}

export interface SecurityEvent {
  at: string;
  event: string;
  /** Their address; null for the service and for former members. */
  by: string | null;
  detail: Facts;
}

/** Which changes; every part is optional. Days are YYYY-MM-DD where the person lives. */
export interface ActivityFilter {
  id?: string;
  by?: string;
  app?: string;
  tool?: string;
  from?: string;
  to?: string;
  query?: string;
}

export interface ActivityPage {
  outcome: "found";
  organizations: { id: string; name: string }[];
  organization: { id: string; name: string };
  country: string;
  timezone: string;
  state: OrganizationState;
  /** Whether the reader may change anything now: by role, plan and state. */
  may_write: boolean;
  changes: Activity[];
  /** Where the next page begins; null on the last. */
  next: string | null;
  /** On the first page only. */
  reads?: ReadCount[];
  people?: { id: string; name: string }[];
  apps?: string[];
  events?: SecurityEvent[] | null;
}

export type ActivityStore = ReturnType<typeof createActivityStore>;

/** Every method throws what `Database.call` throws. */
export function createActivityStore(database: Database) {
  const ask = asking(database);
  return {
    /** @param asked.organizationId the person's first if undefined. */
    read: (
      { userId, organizationId, filter, before, at }: {
        userId: string;
        organizationId: string | undefined;
        filter: ActivityFilter;
        before: string | undefined;
        at: Date;
      },
    ) =>
      ask<ActivityPage | { outcome: "unknown"; organizations: unknown[] }>("read_activity", {
        user_id: userId,
        organization_id: organizationId ?? null,
        filter,
        before: before ?? null,
        at: at.toISOString(),
      }),
  };
}
