/** Sends due and unsent mails about proposals and removals. */
import { sendAllClaimedMails, type Sent } from "../../shared/mail/send_claimed_mails.ts";
import type { Fail, Job, Stage } from "./stage.ts";

/** @throws as the database calls do. */
export async function mailProposals(job: Job, { problems, remainingMs }: Stage, fail: Fail): Promise<Sent> {
  const counts = await sendAllClaimedMails(job, { remainingMs });
  if (counts.failed > 0) {
    problems.add({
      stage: "proposals",
      code: "mail_not_sent",
      message: "Mails about approvals or removals were not sent and will be tried again.",
      count: counts.failed,
    });
  }
  // Later runs retry, but a monitor must see that no mail goes out.
  if (counts.failed > 0 && counts.sent === 0) fail("mail_not_sent");
  return counts;
}
