/** Mails people that their organization will be deleted, or that it stays. */
import type { AppContext } from "../../../shared/http/app.ts";
import { AppError } from "../../../shared/errors.ts";
import { describeError } from "../../../shared/log.ts";
import { sendMail } from "../../../shared/mail/send_mail.ts";
import type { PageDeps } from "../page_guards.ts";

/** A failed mail is only logged: the owner's decision stands, and the organization's page shows it to members. */
export async function tell(
  c: AppContext,
  deps: PageDeps,
  { people, mail }: { people: readonly string[]; mail: { subject: string; text: string } },
): Promise<void> {
  for (const to of people) {
    await sendMail(deps, { to, ...mail }).catch((error) => {
      if (!(error instanceof AppError)) throw error;
      deps.log.error("deletion_mail_not_sent", { request_id: c.get("requestId"), error: describeError(error) });
    });
  }
}
