/** Confirms a reminder address that differs from the sign-in address. */
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import { AppError } from "../../../shared/errors.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { describeError } from "../../../shared/log.ts";
import { sendMail } from "../../../shared/mail/send_mail.ts";
import { readToken, signToken } from "../../../shared/signed_token.ts";
import { wordsOf } from "../../../shared/words/words.ts";
import type { PageDeps } from "../page_guards.ts";

const LABEL = "reminder-email";
const LIFETIME_DAYS = 7;

export interface ReminderAddress {
  userId: string;
  address: string;
}

/**
 * Mails the confirmation link and returns whether the mail was sent. The change is saved even if it was not; reminders
 * then go to the sign-in address.
 */
export async function mailReminderConfirmation(
  c: AppContext,
  deps: PageDeps,
  { user, address }: { user: SignedInUser; address: string },
): Promise<boolean> {
  try {
    await claimAttempt(c, deps, { attempt: "reminder_mail", subject: address });
    const token = await signToken(deps.config.codeSecrets, LABEL, {
      claims: { sub: user.id, address },
      expiresAt: new Date(deps.clock().getTime() + LIFETIME_DAYS * 86_400_000),
    });
    const words = wordsOf("en").mails.reminderAddress;
    await sendMail(deps, {
      to: address,
      subject: words.subject,
      text: words.text({
        email: user.email,
        link: `${deps.config.siteUrl}/account/reminder-email?t=${token}`,
        days: LIFETIME_DAYS,
      }),
    });
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log.error("reminder_confirmation_not_sent", { request_id: c.get("requestId"), error: describeError(error) });
    return false;
  }
}

/** The content of a confirmation link, or null if it is forged or expired. */
export async function readConfirmation(deps: PageDeps, token: string): Promise<ReminderAddress | null> {
  const claims = await readToken(deps.config.codeSecrets, LABEL, { token, at: deps.clock() });
  return claims ? { userId: String(claims.sub), address: String(claims.address) } : null;
}
