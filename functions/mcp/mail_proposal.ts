/** Mails about proposals, sent after the tool's answer. The mailer loads only then, so no other call waits for it. */
import type { Deps } from "../../shared/deps.ts";
import { afterAnswer } from "../../shared/http/after_answer.ts";
import { describeError } from "../../shared/log.ts";
import type { Connector } from "./connector.ts";

/** The reminders job retries mails that fail here. */
export function createMailProposal(deps: Deps): Connector["mailProposal"] {
  const send = async (proposalId: string, requestId: string) => {
    const { sendClaimedMails } = await import("../../shared/mail/send_claimed_mails.ts");
    await sendClaimedMails(deps, { about: proposalId, requestId });
  };
  return (proposalId, requestId) =>
    afterAnswer(
      send(proposalId, requestId).catch((error) =>
        deps.log.error("mails_not_sent", { request_id: requestId, error: describeError(error) })
      ),
    );
}
