/** Mails to one person about one thing, as the database hands them to a sender. */
import type { Proposal } from "../approvals/proposal.ts";

interface Claimed {
  id: string;
  to: string;
  hides_amounts: boolean;
}

export interface ProposalMail extends Claimed {
  /** `asked`, `reminded`: to who can decide. `decided`: to who proposed. `settled`: to the others who were asked. */
  kind: "asked" | "reminded" | "decided" | "settled";
  proposal: Proposal;
}

/** What somebody owes or is owed. */
export interface OwnBalance {
  owes: boolean;
  /** The other's address; null once their account is gone. */
  who: string | null;
  amount: string;
  currency: string;
}

export interface RemovalMail extends Claimed {
  kind: "removed";
  removal: {
    organization: string;
    /** Who removed them; null once their account is gone. */
    by: string | null;
    /** The reader's. */
    country: string;
    balances: OwnBalance[];
    /** How many of their proposals were withdrawn. */
    withdrawn: number;
  };
}

export type ClaimedMail = ProposalMail | RemovalMail;
