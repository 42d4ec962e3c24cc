/**
 * Sign-in by a mailed link or its six-digit code, or through another service. Never reveals whether an address is
 * known.
 */
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import { readVisitorForm } from "../../../shared/http/form_post.ts";
import { askIdentityProvider, isSuspension, readSession, suspended } from "../../../shared/http/session.ts";
import { isEmail } from "../profile/email.ts";
import { safeNextPath, withNext } from "../../../shared/next_path.ts";
import { continueAfterSignIn } from "./after_sign_in.ts";
import { renderLogin, renderSent } from "./login_page.tsx";
import { withMailedAddress } from "./mailed_address.ts";
import type { Form, Handler, OpenPageDeps } from "../page_guards.ts";
import { maySignUp } from "./may_sign_up.ts";
import { readPendingSignIn, storeSignIn } from "./waiting_sign_in.ts";

/** The identity provider sends the mail before it responds. */
const MAIL_DEADLINE_MS = 10_000;

/**
 * Configuration errors that affect every address, so they reveal nothing: without its own mail server, a project mails
 * only its members, and mail sign-in may be off.
 */
const MISCONFIGURED = ["email_address_not_authorized", "email_provider_disabled"];

/** `?next=` is the next page; `?sent=1` shows the page after the mail was sent. */
export const showLogin = (deps: OpenPageDeps): Handler => async (c) => {
  const next = safeNextPath(c.req.query("next"));
  if (await readSession(c, deps)) return c.redirect(next ?? "/account", 303);
  const waiting = await readPendingSignIn(c, deps);
  return c.req.query("sent") && waiting
    ? await renderSent(c, deps, { address: waiting.address, next })
    : await renderLogin(c, deps, { next });
};

/** Field `action`: absent or `mail` sends the link, `code` takes the code, `provider` redirects to another service. */
export const postLogin = (deps: OpenPageDeps): Handler => async (c) => {
  const form = await readVisitorForm(c, deps.config);
  const step = { form, next: safeNextPath(c.req.query("next")) };
  switch (form.get("action")) {
    case "code":
      return await takeCode(c, deps, step);
    case "provider":
      return await leaveForProvider(c, deps, step);
    default:
      return await sendLink(c, deps, step);
  }
};

interface Step {
  form: Form;
  next: string | undefined;
}

const callbackUrl = ({ config }: OpenPageDeps, next: string | undefined) =>
  withNext(`${config.siteUrl}/auth/callback`, next);

async function sendLink(c: AppContext, deps: OpenPageDeps, { form, next }: Step): Promise<Response> {
  const address = form.get("email") ?? "";
  const refuse = () => renderLogin(c, deps, { next, address, error: c.get("reader").words.login.notAnAddress });
  if (!isEmail(address)) return await refuse();
  await claimAttempt(c, deps, { attempt: "login_mail", subject: address });
  const emailRedirectTo = await withMailedAddress(deps.config, callbackUrl(deps, next), { address, at: deps.clock() });
  const shouldCreateUser = await maySignUp(deps, address);
  const { error } = await askIdentityProvider(
    c,
    deps,
    (auth) => auth.signInWithOtp({ email: address, options: { emailRedirectTo, shouldCreateUser } }),
    MAIL_DEADLINE_MS,
  ).catch((thrown) => {
    throw thrown instanceof AppError && thrown.code === "unavailable" ? noMail(thrown) : thrown;
  });
  if (MISCONFIGURED.includes(error?.code ?? "")) throw noMail(error);
  if (error?.code === "email_address_invalid" || error?.code === "validation_failed") return await refuse();
  // Any other error (sign-up closed, address banned) would reveal who has an account, so the page shows success.
  if (error) deps.log.error("sign_in_mail_refused", { request_id: c.get("requestId"), code: error.code });
  await storeSignIn(c, deps, address);
  return c.redirect(withNext("/login?sent=1", next), 303);
}

const noMail = (cause: unknown) =>
  new AppError("unavailable", "the sign-in mail was not sent", {
    says: ({ noMail }) => noMail,
    cause,
    headers: { "retry-after": "60" },
  });

async function takeCode(c: AppContext, deps: OpenPageDeps, { form, next }: Step): Promise<Response> {
  const waiting = await readPendingSignIn(c, deps);
  if (!waiting) return await renderLogin(c, deps, { next });
  const { address } = waiting;
  const code = (form.get("code") ?? "").replaceAll(/[\s-]/g, "");
  const { sent: words } = c.get("reader").words;
  const refuse = (error: string) => renderSent(c, deps, { address, next, error });
  if (!/^\d{6,10}$/.test(code)) return await refuse(words.codeShape);
  await claimAttempt(c, deps, { attempt: "login_code", subject: waiting.id });
  const { data, error } = await askIdentityProvider(
    c,
    deps,
    (auth) => auth.verifyOtp({ email: address, token: code, type: "email" }),
  );
  if (isSuspension(error)) throw suspended();
  if (error || !data.user) return await refuse(words.codeRefused);
  return await continueAfterSignIn(c, deps, { user: data.user, next });
}

async function leaveForProvider(c: AppContext, deps: OpenPageDeps, { form, next }: Step): Promise<Response> {
  const provider = form.get("provider") ?? "";
  if (!deps.config.authProviders.includes(provider)) {
    throw new AppError("invalid_request", "unknown identity provider", {
      says: ({ methodNotOffered }) => methodNotOffered,
    });
  }
  const { data, error } = await askIdentityProvider(c, deps, (auth) =>
    auth.signInWithOAuth({
      provider: provider as Parameters<typeof auth.signInWithOAuth>[0]["provider"],
      options: { redirectTo: callbackUrl(deps, next), skipBrowserRedirect: true },
    }));
  if (error || !data.url) {
    throw new AppError("unavailable", "no sign-in URL", {
      says: ({ methodDown }) => methodDown,
      cause: error,
    });
  }
  return c.redirect(data.url, 303);
}
