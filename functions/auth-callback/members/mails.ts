/** Mails about invitations and hand-overs. */
import { Buffer } from "node:buffer";
import type { GivenRole } from "../../../shared/db/members_store.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { describeError } from "../../../shared/log.ts";
import { type Mail, sendMail } from "../../../shared/mail/send_mail.ts";
import { strangersName } from "../../../shared/words/strangers_name.ts";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { wordsOf } from "../../../shared/words/words.ts";
import type { PageDeps } from "../page_guards.ts";
import { invitationPath, membersPath } from "./addresses.ts";

const DAYS = 7;

// Secret scanners and our own log recognize the token by this prefix.
const PREFIX = "exp_inv_";
const TOKEN = /^exp_inv_[A-Za-z0-9_-]{43}$/;

/** A new link's secret: 256 random bits. The database stores only their SHA-256. */
export function newInvitationToken(): { token: string; tokenHash: string } {
  const token = PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  return { token, tokenHash: hashToken(token) };
}

/** The hash of a link's token; undefined for a malformed token. */
export const hashInvitationToken = (token: string | undefined): string | undefined =>
  token && TOKEN.test(token) ? hashToken(token) : undefined;

/**
 * Counts a mail before the change, because a new, unsent link would already have replaced the earlier one.
 * @throws {AppError} `rate_limited`
 */
export async function claimMemberMail(
  c: AppContext,
  deps: PageDeps,
  { user, address }: { user: SignedInUser; address: string },
): Promise<void> {
  await claimAttempt(c, deps, { attempt: "member_mail", subject: user.id });
  await claimAttempt(c, deps, { attempt: "member_mail_to", subject: address });
}

/** @return whether the mail was sent; if not, the page can send it again. */
export async function mailInvitation(
  c: AppContext,
  deps: PageDeps,
  { user, address, role, organizationName, token }: {
    user: SignedInUser;
    address: string;
    role: GivenRole;
    organizationName: string;
    token: string;
  },
): Promise<boolean> {
  const words = wordsOf("en").mails.invitation;
  return await send(c, deps, {
    to: address,
    subject: words.subject({ inviter: user.email, organization: strangersName(organizationName) }),
    text: words.text({
      inviter: user.email,
      organization: strangersName(organizationName),
      role,
      address,
      link: deps.config.siteUrl + invitationPath(token),
      days: DAYS,
    }),
  });
}

/** The same for a hand-over. */
export async function mailHandover(
  c: AppContext,
  deps: PageDeps,
  { user, address, organizationId, organizationName }: {
    user: SignedInUser;
    address: string;
    organizationId: string;
    organizationName: string;
  },
): Promise<boolean> {
  const words = wordsOf("en").mails.handover;
  return await send(c, deps, {
    to: address,
    subject: words.subject({ owner: user.email }),
    text: words.text({
      owner: user.email,
      organization: strangersName(organizationName),
      link: deps.config.siteUrl + membersPath(organizationId),
      days: DAYS,
    }),
  });
}

async function send(c: AppContext, deps: PageDeps, mail: Mail): Promise<boolean> {
  try {
    await sendMail(deps, mail);
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log.error("member_mail_not_sent", { request_id: c.get("requestId"), error: describeError(error) });
    return false;
  }
}
