/** How often a person may try something within an hour. */
import type { AppContext } from "../../shared/http/app.ts";
import { callerQuotas, isOverridden, limitOf, tooMany } from "../../shared/http/quotas.ts";
import { keyedHash } from "../../shared/signed_token.ts";
import type { PageDeps } from "./page_deps.ts";

/** Seconds between two tries; none where the hourly number is overridden. */
const SECONDS_APART = { login_mail: 30, login_code: 0, reminder_mail: 0 } as const;
export type Attempt = keyof typeof SECONDS_APART;

/** @throws {AppError} `rate_limited`, with the time to wait, when there were too many. The words are the same for known and unknown addresses. */
export async function claimAttempt(
  c: AppContext,
  { config, store, clock }: PageDeps,
  { attempt, address }: { attempt: Attempt; address: string },
): Promise<void> {
  const limit = limitOf(config, `${attempt}_address`);
  if (!limit) return;
  const answer = await store.claimAttempt({
    addressHash: await keyedHash(config.codeSecrets, `${attempt}_address`, address.toLowerCase()),
    atMost: limit.at_most,
    secondsApart: isOverridden(config, `${attempt}_address`) ? 0 : SECONDS_APART[attempt],
    quotas: await callerQuotas(config, `${attempt}_ip`, c),
    at: clock(),
  });
  if (answer.outcome === "limited") {
    throw tooMany(
      `That was tried often in a short time. It works again in ${inWords(answer.retry_after)}.`,
      answer.retry_after,
    );
  }
}

/** How long to wait, as a person says it. */
export function inWords(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
