/**
 * The identity provider redirects here with a code to exchange, a mailed token to confirm, or an error. This page
 * starts the session. It reads an existing session only to warn before switching accounts.
 */
import type { AppContext } from "../../../shared/http/app.ts";
import { readVisitorForm } from "../../../shared/http/form_post.ts";
import {
  askIdentityProvider,
  isOurSession,
  isSuspension,
  readSession,
  suspended,
} from "../../../shared/http/session.ts";
import { safeNextPath, withNext } from "../../../shared/next_path.ts";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { continueAfterSignIn } from "./after_sign_in.ts";
import { type CallbackFailure, failureOf } from "./callback_failure.ts";
import { renderConfirm } from "./confirm_page.tsx";
import { readMailedAddress } from "./mailed_address.ts";
import type { Handler, OpenPageDeps } from "../page_guards.ts";

/** Excludes "email_change": a link that confirms an address starts no session (decision 112). */
const MAIL_TYPES = ["email", "magiclink", "signup", "invite", "recovery"] as const;
type MailType = (typeof MAIL_TYPES)[number];

/**
 * `?code=` (with `sb_flow_id` if the identity provider kept it), or `?token_hash=&type=`, or `?error=&error_code=`;
 * `?next=` with each.
 */
export const finishSignIn = (deps: OpenPageDeps): Handler => async (c) => {
  const { code, error, error_code, sb_flow_id } = c.req.query();
  if (isSuspension({ code: error_code })) throw suspended();
  if (error || error_code) return await fail(c, deps, failureOf(error_code, error));
  if (code) return await exchangeCode(c, deps, { code, flowId: sb_flow_id });
  if (!mailedToken(c)) return await fail(c, deps, "incomplete");
  // The outage appears when the form is submitted; until then the account remains the same.
  const user = await readSession(c, deps).catch(() => null);
  return await renderConfirm(c, deps, { address: await addressOf(c, deps), user });
};

/** Handles the confirm page's form. Signs in only the person whom the page named or whose address was typed. */
export const postCallback = (deps: OpenPageDeps): Handler => async (c) => {
  const form = await readVisitorForm(c, deps.config);
  const token = mailedToken(c);
  if (!token) return await fail(c, deps, "incomplete");
  const address = await addressOf(c, deps) ?? form.get("email");
  if (!address) {
    const user = await readSession(c, deps).catch(() => null);
    return await renderConfirm(c, deps, { address, user, error: c.get("reader").words.confirm.typeAddress });
  }
  const isMeant = (user: { email?: string | undefined }) => user.email?.toLowerCase() === address.toLowerCase();
  const { data, error } = await askIdentityProvider(c, deps, async (auth) => {
    const answer = await auth.verifyOtp(token);
    // The session has already started. End it, so that nobody receives it.
    if (answer.data.user && !isMeant(answer.data.user)) await auth.signOut({ scope: "local" });
    return answer;
  });
  if (isSuspension(error)) throw suspended();
  if (error || !data.user) return await fail(c, deps, failureOf(error?.code));
  if (!isMeant(data.user)) {
    // The existing session continues.
    c.set("cookies", []);
    return await fail(c, deps, "other_address");
  }
  return await continueAfterSignIn(c, deps, { user: data.user, next: nextOf(c) });
};

const addressOf = (c: AppContext, { config, clock }: OpenPageDeps) =>
  readMailedAddress(config, new URL(c.req.url).searchParams, clock());

const nextOf = (c: AppContext) => safeNextPath(c.req.query("next"));

function mailedToken(c: AppContext): { token_hash: string; type: MailType } | undefined {
  const { token_hash, type } = c.req.query();
  const known = MAIL_TYPES.find((name) => name === type);
  return token_hash && known ? { token_hash, type: known } : undefined;
}

async function exchangeCode(
  c: AppContext,
  deps: OpenPageDeps,
  { code, flowId }: { code: string; flowId: string | undefined },
): Promise<Response> {
  const { data, error } = await askIdentityProvider(
    c,
    deps,
    (auth) => auth.exchangeCodeForSession(code, flowId ? { flowId } : undefined),
  );
  if (isSuspension(error)) throw suspended();
  if (error || !data.user) return await fail(c, deps, failureOf(error?.code));
  if (!isOurSession(data.session.access_token, deps.config)) {
    // Drops the cookies, so that nobody receives the session.
    c.set("cookies", []);
    return await fail(c, deps, "refused");
  }
  return await continueAfterSignIn(c, deps, { user: data.user, next: nextOf(c) });
}

/** Always 400. After any problem with the link, the person must start again; `next` is kept. */
function fail(c: AppContext, { config, log }: OpenPageDeps, failure: CallbackFailure): Promise<Response> {
  log.info("sign_in_failed", { request_id: c.get("requestId"), reason: failure });
  const { reasons, unchanged, again } = c.get("reader").words.signInFailures;
  const next = { label: again, href: withNext("/login", nextOf(c)) };
  const problem = { ...reasons[failure], changed: unchanged, next };
  return renderProblem(c, { config, status: 400, problem });
}
