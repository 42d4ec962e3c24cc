/** How often a person may try something within an hour. */
import type { AppContext } from "../../shared/http/app.ts";
import { AppError } from "../../shared/errors.ts";
import { keyedHash } from "../../shared/signed_token.ts";
import type { PageDeps } from "./page_deps.ts";

/** Each can be changed by its name in `RATE_LIMITS`. */
const LIMITS = {
  /** Sign-in mails an hour: by address, against flooding a mailbox; by IP, against trying many addresses. */
  login_mail_address: 5,
  login_mail_ip: 20,
  /** Typed codes an hour: a code has a million values and lives for one. */
  login_code_address: 10,
  login_code_ip: 60,
  /** Mails to a reminder address that its owner has not confirmed. */
  reminder_mail_address: 5,
  reminder_mail_ip: 20,
} as const;

/** Between two mails to an address; none where the hourly number is overridden. */
const SECONDS_APART = { login_mail: 30, login_code: 0, reminder_mail: 0 } as const;
export type Attempt = keyof typeof SECONDS_APART;

/** @throws {AppError} `rate_limited`, with the time to wait, when there were too many. The words are the same for known and unknown addresses. */
export async function claimAttempt(
  c: AppContext,
  deps: PageDeps,
  { attempt, address }: { attempt: Attempt; address: string },
): Promise<void> {
  const { config, store, clock } = deps;
  if (config.rateLimits === "off") return;
  const quota = async (kind: "address" | "ip", value: string) => ({
    hash: await keyedHash(config.codeSecrets, `${attempt}_${kind}`, value.toLowerCase()),
    atMost: limitOf(config.rateLimits, `${attempt}_${kind}`),
  });
  // The first entry is the gateway's word for who called. It can be forged where there is no gateway, so it only ever limits.
  const ip = c.req.header("x-forwarded-for")?.split(",")[0]?.trim();
  const answer = await store.claimAttempt({
    address: { ...await quota("address", address), secondsApart: pauseOf(config.rateLimits, attempt) },
    ip: ip ? await quota("ip", ip) : null,
    at: clock(),
  });
  if (answer.outcome === "limited") {
    throw new AppError(
      "rate_limited",
      `That was tried often in a short time. It works again in ${inWords(answer.retry_after)}.`,
      {
        headers: { "retry-after": String(answer.retry_after) },
      },
    );
  }
}

const overrideOf = (limits: PageDeps["config"]["rateLimits"], name: keyof typeof LIMITS): number | undefined =>
  typeof limits === "object" ? limits[name] : undefined;
const limitOf = (limits: PageDeps["config"]["rateLimits"], name: keyof typeof LIMITS): number =>
  overrideOf(limits, name) ?? LIMITS[name];
const pauseOf = (limits: PageDeps["config"]["rateLimits"], attempt: Attempt): number =>
  overrideOf(limits, `${attempt}_address`) === undefined ? SECONDS_APART[attempt] : 0;

function inWords(seconds: number): string {
  if (seconds < 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
