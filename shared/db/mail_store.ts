/** Mails about proposals and removals that wait to be sent: claimed by one sender each, and settled. */
import type { ClaimedMail } from "../mail/claimed_mail.ts";
import type { Database } from "./client.ts";

/** Every method throws what `Database.call` throws. */
export function createMailStore(database: Database) {
  return {
    /**
     * Mails that nobody else is sending right now, until the lease ends.
     * @param asked.about the id of a proposal or an organization; all if undefined.
     */
    claim: ({ about, atMost, at }: { about?: string | undefined; atMost: number; at: Date }) =>
      database.call<ClaimedMail[]>("claim_mails", { about: about ?? null, at_most: atMost, at }),

    settle: ({ mailId, isSent, at }: { mailId: string; isSent: boolean; at: Date }) =>
      database.call<null>("settle_mail", { mail_id: mailId, is_sent: isSent, at }),
  };
}
