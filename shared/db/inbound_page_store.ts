/** Reads and changes an organization's mail for people who may change its settings. */
import * as z from "zod/mini";
import { OrganizationState } from "../organization_state.ts";
import { either, outcome } from "../outcome.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

const ListedMail = z.object({
  id: z.string(),
  state: z.enum(["arrived", "waiting", "accepted", "read", "failed"]),
  /** The address in From, in lower case; empty for a mail that could not be fetched. */
  sender: z.string(),
  subject: z.string(),
  /** In bytes. */
  size: z.number(),
  received_at: z.string(),
  is_proven: z.boolean(),
  verdicts: z.record(z.string(), z.string()),
  /** Whether a member signs in with the sender's address. */
  is_members: z.boolean(),
  documents: z.array(z.string()),
  refusals: z.array(z.string()),
});
export type ListedMail = z.infer<typeof ListedMail>;

const Inbound = {
  id: z.string(),
  state: OrganizationState,
  country: z.string(),
  /** The token of the mail address; null before its creation. */
  token: z.nullable(z.string()),
  senders: z.array(z.object({
    address: z.string(),
    is_accepted: z.boolean(),
    /** Null after the account's deletion. */
    decided_by: z.nullable(z.string()),
  })),
  /** All waiting mails, and the newest of the others. */
  mails: z.array(ListedMail),
};
const ReadInbound = either(outcome(["ok"], Inbound), outcome(["unknown"]));
export type Inbound = Extract<z.infer<typeof ReadInbound>, { outcome: "ok" }>;

export const INBOUND_ACTIONS = ["rotate", "accept", "block", "forget"] as const;
export type InboundAction = typeof INBOUND_ACTIONS[number];

export const ANSWERS = { read_inbound: ReadInbound, change_inbound: outcome(["changed", "gone", "unknown"]) };

type Asked = { userId: string; organizationId: string; at: Date };

/** Every method throws what `Database.call` throws. */
export function createInboundPageStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    read: ({ userId, organizationId, at }: Asked) =>
      ask("read_inbound", { user_id: userId, organization_id: organizationId, at: at.toISOString() }),

    /** @param target a mail's id, or for `forget` a sender's address. */
    change: ({ userId, organizationId, action, target, at }: Asked & { action: InboundAction; target: string }) =>
      ask("change_inbound", {
        user_id: userId,
        organization_id: organizationId,
        action,
        target,
        at: at.toISOString(),
      }),
  };
}
