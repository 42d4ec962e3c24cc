/** Hourly limits on attempts, such as sign-in mails. */
import { createIdentityStore } from "../db/identity_store.ts";
import type { Deps } from "../deps.ts";
import { keyedHash } from "../signed_token.ts";
import type { AppContext } from "./app.ts";
import { callerQuotas, isOverridden, type LimitName, limitOf, tooManyAttempts } from "./quotas.ts";

/**
 * Mails count by address, so that nobody can flood a mailbox. Codes count by sign-in, which only the browser that
 * requested the mail can name, so a stranger's guesses don't use up the owner's limit. The limit on mails bounds the
 * number of sign-ins and therefore all guesses for an address.
 */
const ATTEMPTS = {
  login_mail: { of: "login_mail_address", by: "login_mail_ip", secondsApart: 30 },
  login_code: { of: "login_code_sign_in", by: "sign_in_ip", secondsApart: 0 },
  login_link: { of: "login_link_secret", by: "sign_in_ip", secondsApart: 0 },
  review_code: { of: "login_link_secret", by: "sign_in_ip", secondsApart: 0 },
  session_refresh: { of: "session_refresh_secret", by: "session_refresh_ip", secondsApart: 0 },
  reminder_mail: { of: "reminder_mail_address", by: "reminder_mail_ip", secondsApart: 0 },
  member_mail: { of: "member_mail_person", by: "member_mail_ip", secondsApart: 0 },
  member_mail_to: { of: "member_mail_address", by: "member_mail_ip", secondsApart: 0 },
  organization: { of: "organization_person", by: "organization_ip", secondsApart: 0 },
  address_mail: { of: "address_mail_person", by: "address_mail_ip", secondsApart: 0 },
  import_upload: { of: "import_upload_person", by: "import_upload_ip", secondsApart: 0 },
  export: { of: "export_person", by: "export_ip", secondsApart: 0 },
} as const satisfies Record<string, { of: LimitName; by: LimitName; secondsApart: number }>;

export interface Attempt {
  attempt: keyof typeof ATTEMPTS;
  /** The address, sign-in, person or secret that the limit applies to. */
  subject: string;
}

/**
 * @throws {AppError} `rate_limited`, with the time to wait. The message is the same for known and unknown addresses.
 */
export async function claimAttempt(
  c: AppContext,
  { config, database, clock }: Pick<Deps, "config" | "database" | "clock">,
  { attempt, subject }: Attempt,
): Promise<void> {
  const { of, by, secondsApart } = ATTEMPTS[attempt];
  const limit = limitOf(config, of);
  if (!limit) return;
  const answer = await createIdentityStore(database).claimAttempt({
    keyHash: await keyedHash(config.codeSecrets, of, subject.toLowerCase()),
    atMost: limit.at_most,
    // The pause matches only our default limit.
    secondsApart: isOverridden(config, of) ? 0 : secondsApart,
    quotas: await callerQuotas(config, by, c),
    at: clock(),
  });
  if (answer.outcome === "limited") throw tooManyAttempts(answer.retry_after);
}
