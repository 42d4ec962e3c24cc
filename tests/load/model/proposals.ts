/** Pending and decided proposals: each has one state, and its bill exists if approved. */
import type { Client, Json } from "./client.ts";

export interface Proposal {
  id: string;
  organization: number;
  /** The name of the bill that it adds. */
  name: string;
  /** From the answers; `unknown` while one is missing. */
  state: "pending" | "approved" | "refused" | "unknown";
  /** Somebody has decided it, or is about to. */
  isBeingDecided?: boolean;
}

export class Proposals {
  readonly all: Proposal[] = [];
  /** Names of bills whose proposal may exist. */
  readonly doubted = new Set<string>();

  add(client: Client, name: string, { proposal_id }: Json): void {
    this.all.push({ id: proposal_id, organization: client.person.organization, name, state: "pending" });
  }
  /** Unanswered proposals, the oldest first. */
  pending = (organization: number): Proposal[] =>
    this.all.filter((proposal) => proposal.organization === organization && proposal.state === "pending");
}
