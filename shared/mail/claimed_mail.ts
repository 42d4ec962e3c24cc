/** Mails to one person about one subject, in the form that the database returns to a sender. */
import * as z from "zod/mini";
import { Proposal } from "../approvals/proposal.ts";

const Claimed = z.object({ id: z.string(), to: z.string(), hides_amounts: z.boolean() });

export const ProposalMail = z.extend(Claimed, {
  /** `asked`, `reminded`: to possible approvers. `decided`: to the proposer. `settled`: to the other approvers. */
  kind: z.enum(["asked", "reminded", "decided", "settled"]),
  proposal: Proposal,
});
export type ProposalMail = z.infer<typeof ProposalMail>;

/** An amount that somebody owes or is owed. */
export const OwnBalance = z.object({
  owes: z.boolean(),
  /** The other person's address; null once their account is gone. */
  who: z.nullable(z.string()),
  amount: z.string(),
  currency: z.string(),
});

export const RemovalMail = z.extend(Claimed, {
  kind: z.literal("removed"),
  removal: z.object({
    organization: z.string(),
    /** The person who removed them; null once their account is gone. */
    by: z.nullable(z.string()),
    /** The reader's country. */
    country: z.string(),
    balances: z.array(OwnBalance),
    /** The number of the recipient's withdrawn proposals. */
    withdrawn: z.number(),
  }),
});
export type RemovalMail = z.infer<typeof RemovalMail>;

export const ClaimedMail = z.discriminatedUnion("kind", [
  ProposalMail,
  RemovalMail,
]);
export type ClaimedMail = z.infer<typeof ClaimedMail>;
