/** How often a person may try something within an hour. */
import type { AppContext } from "../../shared/http/app.ts";
import { callerQuotas, isOverridden, type LimitName, limitOf, tooManyAttempts } from "../../shared/http/quotas.ts";
import { keyedHash } from "../../shared/signed_token.ts";
import type { PageDeps } from "./page_guards.ts";

/**
 * Mails count by address, wherever they are asked from, so that no mailbox is flooded. Codes count by the sign-in that they are typed for, which
 * only the browser that asked for its mail can name: what a stranger guesses costs nobody else a try. The mails bound how many sign-ins there
 * are, and so all guesses at an address.
 */
const ATTEMPTS = {
  login_mail: { of: "login_mail_address", by: "login_mail_ip", secondsApart: 30 },
  login_code: { of: "login_code_sign_in", by: "login_code_ip", secondsApart: 0 },
  reminder_mail: { of: "reminder_mail_address", by: "reminder_mail_ip", secondsApart: 0 },
} as const satisfies Record<string, { of: LimitName; by: LimitName; secondsApart: number }>;
export type Attempt = keyof typeof ATTEMPTS;

/**
 * @param subject the address or the sign-in that it is counted for.
 * @throws {AppError} `rate_limited`, with the time to wait, when there were too many. The words are the same for known and unknown addresses.
 */
export async function claimAttempt(
  c: AppContext,
  { config, store, clock }: PageDeps,
  { attempt, subject }: { attempt: Attempt; subject: string },
): Promise<void> {
  const { of, by, secondsApart } = ATTEMPTS[attempt];
  const limit = limitOf(config, of);
  if (!limit) return;
  const answer = await store.claimAttempt({
    keyHash: await keyedHash(config.codeSecrets, of, subject.toLowerCase()),
    atMost: limit.at_most,
    // The pause belongs to our own number.
    secondsApart: isOverridden(config, of) ? 0 : secondsApart,
    quotas: await callerQuotas(config, by, c),
    at: clock(),
  });
  if (answer.outcome === "limited") throw tooManyAttempts(answer.retry_after);
}
