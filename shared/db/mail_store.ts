/** Mails about proposals and removals: one sender claims each mail and settles it. */
import * as z from "zod/mini";
import { ClaimedMail } from "../mail/claimed_mail.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export const ANSWERS = {
  claim_mails: z.array(ClaimedMail),
  settle_mail: z.unknown(),
};

/** Every method throws what `Database.call` throws. */
export function createMailStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /**
     * Mails that nobody else sends until the lease ends.
     * @param asked.about the id of a proposal or an organization; all mails if undefined.
     */
    claim: ({ about, atMost, at }: { about?: string | undefined; atMost: number; at: Date }) =>
      ask("claim_mails", { about: about ?? null, at_most: atMost, at }),

    settle: ({ mailId, isSent, at }: { mailId: string; isSent: boolean; at: Date }) =>
      ask("settle_mail", { mail_id: mailId, is_sent: isSent, at }),
  };
}
