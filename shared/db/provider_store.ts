/** Database calls of the job that fetches amounts: one transaction and one link per call. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { type Answer, AskedLink, type PendingLink } from "../providers/ask.ts";
import type { Period } from "../providers/period.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export const ClaimedLink = z.extend(z.omit(AskedLink, { period: true }), {
  lease_token: z.string(),
  /** The months to request, in this order; at least one. */
  periods: z.tuple([z.string()], z.string()),
});
export type ClaimedLink = z.infer<typeof ClaimedLink>;

/** A month of a leased link. */
export interface LeasedMonth extends PendingLink {
  lease_token: string;
}

/** `lost`: another run took over the link, or it ended in the meantime; nothing was stored. */
export const Kept = either(
  outcome(["kept"], {
    status: z.enum(["updated", "unchanged", "needs_review", "not_ready", "needs_reauth", "failed"]),
    code: z.nullable(z.string()),
  }),
  outcome(["lost"]),
);
export type Kept = z.infer<typeof Kept>;

export const LinkCounts = z.object({ links: z.number(), synced: z.number(), waiting: z.number() });
export type LinkCounts = z.infer<typeof LinkCounts>;

export interface ClaimOptions {
  period: Period;
  /** Include links whose statement is already stored. */
  again: boolean;
  /** Skips links queried since then. */
  before: Date;
  at: Date;
}

export type ProviderStore = ReturnType<typeof createProviderStore>;

export const ANSWERS = {
  claim_provider_link: z.nullable(ClaimedLink),
  keep_provider_answer: Kept,
  count_provider_links: LinkCounts,
};

/** Every method throws what `Database.call` throws. */
export function createProviderStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** Null when no link is left. */
    claimLink: ({ period, again, before, at }: ClaimOptions) =>
      ask("claim_provider_link", { period, again, before, at }),

    /** @param kept.isLast ends the lease */
    keepAnswer: (
      { link_id, lease_token, period }: LeasedMonth,
      { answer, isLast, at }: { answer: Answer; isLast: boolean; at: Date },
    ) => ask("keep_provider_answer", { link_id, lease_token, period, answer, at, is_last: isLast }),

    /** `waiting`: links that claimLink could still return, including links that another run has leased. */
    countLinks: ({ period, again, before, at }: ClaimOptions) =>
      ask("count_provider_links", { period, again, before, at }),
  };
}
