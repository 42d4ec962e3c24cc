/** Database calls of the job that fetches amounts: one transaction and one link per call. */
import type { Answer, AskedLink, PendingLink } from "../providers/ask.ts";
import type { Period } from "../providers/period.ts";
import type { Database } from "./client.ts";

export interface ClaimedLink extends Omit<AskedLink, "period"> {
  lease_token: string;
  /** The months to ask for, in this order; at least one. */
  periods: [Period, ...Period[]];
}

/** A month of a leased link. */
export interface LeasedMonth extends PendingLink {
  lease_token: string;
}

/** `lost`: another run took over the link, or it ended meanwhile; nothing was stored. */
export type Kept =
  | {
    outcome: "kept";
    status: "updated" | "unchanged" | "needs_review" | "not_ready" | "needs_reauth" | "failed";
    code: string | null;
  }
  | { outcome: "lost" };

export interface LinkCounts {
  links: number;
  synced: number;
  waiting: number;
}

export interface ClaimOptions {
  period: Period;
  /** Include links whose statement is already stored. */
  again: boolean;
  /** Skip links queried since then. */
  before: Date;
  at: Date;
}

export type ProviderStore = ReturnType<typeof createProviderStore>;

/** Every method throws what `Database.call` throws. */
export function createProviderStore(database: Database) {
  return {
    /** Null when no link is left. */
    claimLink: ({ period, again, before, at }: ClaimOptions) =>
      database.call<ClaimedLink | null>("claim_provider_link", { period, again, before, at }),

    /** @param kept.isLast ends the lease. */
    keepAnswer: (
      { link_id, lease_token, period }: LeasedMonth,
      { answer, isLast, at }: { answer: Answer; isLast: boolean; at: Date },
    ) => database.call<Kept>("keep_provider_answer", { link_id, lease_token, period, answer, at, is_last: isLast }),

    /** `waiting`: links that claimLink could still return, including those leased by another run. */
    countLinks: ({ period, again, before, at }: ClaimOptions) =>
      database.call<LinkCounts>("count_provider_links", { period, again, before, at }),
  };
}
