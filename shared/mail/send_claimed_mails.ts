/**
 * Sends the pending mails about proposals and removals. A sender leases each mail before it sends the mail and settles
 * it afterwards, so two senders never send the same mail. The next run of the reminders job resends the mails of a
 * killed sender.
 */
import { createMailStore } from "../db/mail_store.ts";
import type { Deps } from "../deps.ts";
import { describeError } from "../log.ts";
import { createUrls, type Urls } from "../urls.ts";
import { wordsOf } from "../words/words.ts";
import type { ClaimedMail } from "./claimed_mail.ts";
import { composeProposalMail } from "./proposal_mail.ts";
import { composeRemovalMail } from "./removal_mail.ts";
import { type Mail, sendMail } from "./send_mail.ts";

/** Few, because the other mails wait under their lease during each send. */
const AT_ONCE = 5;

type MailingDeps = Pick<Deps, "config" | "database" | "clock" | "fetch" | "log">;

interface Sending {
  /** The id of a proposal or an organization; limits the run to mails about it. */
  about?: string;
  requestId?: string;
  /** Milliseconds left for starting more mails. */
  remainingMs?(): number;
}

export interface Sent {
  sent: number;
  failed: number;
  [count: string]: number;
}

/** @throws as the database calls do. */
export async function sendAllClaimedMails(deps: MailingDeps, sending: Sending = {}): Promise<Sent> {
  const { config, database, clock, log } = deps;
  const store = createMailStore(database);
  const urls = createUrls(config);
  const counts: Sent = { sent: 0, failed: 0 };
  // A failed mail cannot be claimed again immediately, so this loop ends.
  while ((sending.remainingMs?.() ?? 1) > 0) {
    const mails = await store.claim({ about: sending.about, atMost: AT_ONCE, at: clock() });
    if (mails.length === 0) break;
    for (const mail of mails) {
      const isSent = await (async () =>
        await sendMail(deps, {
          ...compose(mail, urls),
          key: `mail/${mail.id}`,
        }))().then(
          () => true,
          (thrown) => {
            const about = sending.requestId ? { request_id: sending.requestId } : {};
            log.error("mail_not_sent", { ...about, code: "not_sent", error: describeError(thrown) });
            return false;
          },
        );
      counts[isSent ? "sent" : "failed"]++;
      await store.settle({ mailId: mail.id, isSent, at: clock() });
    }
  }
  return counts;
}

function compose(mail: ClaimedMail, urls: Urls): Mail {
  const words = wordsOf("en");
  return mail.kind === "removed"
    ? composeRemovalMail(mail, { words, link: urls.account })
    : composeProposalMail(mail, { words, link: urls.proposal(mail.proposal.id) });
}

/** The same after a response was sent. A failed mail doesn't affect the response. */
export async function sendClaimedMails(deps: MailingDeps, sending: Sending): Promise<void> {
  await sendAllClaimedMails(deps, sending).catch((thrown) => {
    deps.log.error("mails_not_sent", {
      ...(sending.requestId && { request_id: sending.requestId }),
      code: "not_sent",
      error: describeError(thrown),
    });
  });
}
