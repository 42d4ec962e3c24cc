/** @jsxImportSource hono/jsx */
/**
 * Sign-in for the reviewer of a directory, who has a code instead of a mailbox. The page exists only while
 * `REVIEW_SIGN_IN` is on. The database determines the person, the organization and the lifetime of a code
 * (identity.reviewers).
 */
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import { readVisitorForm } from "../../../shared/http/form_post.ts";
import { signInWithoutMail } from "../../../shared/http/session.ts";
import { safeNextPath, withNext } from "../../../shared/next_path.ts";
import { BrowserToken, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { sha256 } from "../../../shared/std/sha256.ts";
import type { Handler, PageDeps } from "../page_guards.ts";
import { continueAfterSignIn } from "./after_sign_in.ts";

/** The format of `deno task operate reviewer`: 26 letters and digits of base 32, in groups. */
const CODE = /^[A-Z2-7]{26}$/;

export const showReview = (deps: PageDeps): Handler => async (c) => {
  requireOpen(deps);
  return await renderReview(c, deps);
};

export const postReview = (deps: PageDeps): Handler => async (c) => {
  requireOpen(deps);
  const form = await readVisitorForm(c, deps.config);
  const code = (form.get("code") ?? "").replaceAll(/[\s-]/g, "").toUpperCase();
  const { review: words } = c.get("reader").words;
  if (!CODE.test(code)) return await renderReview(c, deps, words.shape);
  await claimAttempt(c, deps, { attempt: "review_code", subject: code });
  const opened = await deps.store.openReview({ codeHash: sha256(code).toString("hex"), at: deps.clock() });
  if (opened.outcome !== "open") return await renderReview(c, deps, words.refused);
  const answer = await signInWithoutMail(c, deps, { email: opened.email, type: "magiclink" });
  if (!answer || answer.error || answer.data.user?.id !== opened.user_id) {
    // Starts no session that the person did not request.
    c.set("cookies", []);
    return await renderReview(c, deps, words.refused);
  }
  return await continueAfterSignIn(c, deps, { user: answer.data.user, next: safeNextPath(c.req.query("next")) });
};

function requireOpen({ config }: PageDeps): void {
  if (!config.reviewSignIn) throw new AppError("not_found", "no review");
}

async function renderReview(c: AppContext, { config }: PageDeps, error?: string): Promise<Response> {
  const browserToken = await createBrowserToken(c, config);
  const { review: words, login } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config,
    status: error ? 400 : 200,
    children: (
      <>
        <h1>{words.title}</h1>
        <p>{words.lead}</p>
        <form method="post" action={withNext("/review", safeNextPath(c.req.query("next")))} class="stack">
          <BrowserToken token={browserToken} />
          <TextField name="code" label={words.code} error={error} required autocomplete="off" maxlength={40} />
          <button class="primary" type="submit">{login.title}</button>
        </form>
      </>
    ),
  });
}
