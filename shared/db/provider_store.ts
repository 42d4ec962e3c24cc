/** What the job that fetches amounts asks of the database: one link a call, each one transaction. */
import type { Answer, AskedLink } from "../providers/ask.ts";
import type { Period } from "../providers/period.ts";
import type { Database } from "./client.ts";

export interface ClaimedLink extends AskedLink {
  lease_token: string;
}

/** `lost`: it took so long that another run asked, or the link ended meanwhile; nothing was kept. */
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
  /** Also links whose statement is kept already. */
  again: boolean;
  /** Links that were asked since are left alone. */
  before: Date;
  at: Date;
}

export type ProviderStore = ReturnType<typeof createProviderStore>;

/** Every method throws what `Database.call` throws. */
export function createProviderStore(database: Database) {
  return {
    /** Null when there is none left to ask. */
    claimLink: ({ period, again, before, at }: ClaimOptions) =>
      database.call<ClaimedLink | null>("claim_provider_link", { period, again, before, at }),

    keepAnswer: ({ link_id, lease_token, period }: ClaimedLink, { answer, at }: { answer: Answer; at: Date }) =>
      database.call<Kept>("keep_provider_answer", { link_id, lease_token, period, answer, at }),

    /** `waiting`: links that claimLink could still give, those included that somebody else is asking. */
    countLinks: ({ period, again, before, at }: ClaimOptions) =>
      database.call<LinkCounts>("count_provider_links", { period, again, before, at }),
  };
}
