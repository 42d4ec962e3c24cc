/** @jsxImportSource hono/jsx */
/**
 * Where the identity provider sends people back: a code to exchange, a mailed token to confirm, or the reason why not.
 * No session is read here, only the verifier of the sign-in that is under way; this page is what starts the session.
 */
import type { AppContext } from "../../shared/http/app.ts";
import { readForm } from "../../shared/http/form_post.ts";
import { askIdentityProvider } from "../../shared/http/session.ts";
import { safeNextPath, withNext } from "../../shared/identity/next_path.ts";
import { Buttons } from "../../shared/pages/components.tsx";
import { renderProblem } from "../../shared/pages/error_page.tsx";
import { renderPage } from "../../shared/pages/layout.tsx";
import { goOn } from "./after_sign_in.ts";
import { type CallbackFailure, failureOf, WORDS } from "./callback_failure.ts";
import type { Handler, PageDeps } from "./page_deps.ts";

const MAIL_TYPES = ["email", "magiclink", "signup", "invite", "recovery", "email_change"] as const;
type MailType = (typeof MAIL_TYPES)[number];

/** `?code=` (with `sb_flow_id` when the identity provider kept it), or `?token_hash=&type=`, or `?error=&error_code=`; `?next=` with each. */
export const finishSignIn = (deps: PageDeps): Handler => async (c) => {
  const { code, error, error_code, sb_flow_id } = c.req.query();
  if (error || error_code) return await fail(c, deps, failureOf(error_code, error));
  if (code) return await exchangeCode(c, deps, { code, flowId: sb_flow_id });
  return mailedToken(c) ? await renderConfirm(c, deps) : await fail(c, deps, "incomplete");
};

/** The press on the confirm page: scanners follow links in mails, but they send no forms. */
export const postCallback = (deps: PageDeps): Handler => async (c) => {
  await readForm(c, deps.config);
  const token = mailedToken(c);
  if (!token) return await fail(c, deps, "incomplete");
  const { data, error } = await askIdentityProvider(c, deps, (auth) => auth.verifyOtp(token));
  if (error || !data.user) return await fail(c, deps, failureOf(error?.code));
  return await goOn(c, deps, { userId: data.user.id, next: nextOf(c) });
};

const nextOf = (c: AppContext) => safeNextPath(c.req.query("next"));

function mailedToken(c: AppContext): { token_hash: string; type: MailType } | undefined {
  const { token_hash, type } = c.req.query();
  const known = MAIL_TYPES.find((name) => name === type);
  return token_hash && known ? { token_hash, type: known } : undefined;
}

async function exchangeCode(
  c: AppContext,
  deps: PageDeps,
  { code, flowId }: { code: string; flowId: string | undefined },
): Promise<Response> {
  const { data, error } = await askIdentityProvider(
    c,
    deps,
    (auth) => auth.exchangeCodeForSession(code, flowId ? { flowId } : undefined),
  );
  if (error || !data.user) return await fail(c, deps, failureOf(error?.code));
  return await goOn(c, deps, { userId: data.user.id, next: nextOf(c) });
}

function renderConfirm(c: AppContext, { config }: PageDeps): Promise<Response> {
  return renderPage(c, {
    title: "Confirm that it is you",
    config,
    children: (
      <>
        <h1>One press and you are in</h1>
        <p class="lead">You opened the link from our mail. Press the button to sign in on this device.</p>
        <p class="muted">If you did not ask for that mail, close this page: nothing happens.</p>
        <form method="post" action={c.req.path + new URL(c.req.url).search}>
          <Buttons>
            <button class="primary" type="submit">Sign in</button>
          </Buttons>
        </form>
      </>
    ),
  });
}

/** Always 400: whatever is wrong with the link, starting again is the way on, with `next` kept. */
function fail(c: AppContext, { config, log }: PageDeps, failure: CallbackFailure): Promise<Response> {
  log.info("sign_in_failed", { request_id: c.get("requestId"), reason: failure });
  const problem = {
    ...WORDS[failure],
    // Whether somebody is signed in is not read here.
    changed: "It signed nobody in, and nothing was changed. If you are signed in here already, you still are.",
    next: { label: "Sign in again", href: withNext("/login", nextOf(c)) },
  };
  return renderProblem(c, { config, status: 400, problem });
}
