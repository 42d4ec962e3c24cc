/** Records a sign-in and decides where the person goes next. */
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { clearVerifiers } from "../../../shared/http/session.ts";
import { withNext } from "../../../shared/next_path.ts";
import type { OpenPageDeps } from "../page_guards.ts";
import { clearPendingSignIn } from "./waiting_sign_in.ts";

/**
 * Redirects to the cancellation page while the account is being deleted, to onboarding without a country, and otherwise
 * to the requested page or the account. @param user from the identity provider.
 */
export async function continueAfterSignIn(
  c: AppContext,
  deps: OpenPageDeps,
  { user, next }: { user: { id: string; email?: string | undefined }; next: string | undefined },
): Promise<Response> {
  clearPendingSignIn(c, deps);
  clearVerifiers(c, deps);
  const { id: userId, email } = user;
  const noted: Promise<{ onboarded: boolean; leaving?: true }> = email
    ? deps.store.noteSignIn({ userId, email, at: deps.clock() })
    : deps.store.readOnboarding(userId);
  const { onboarded, leaving } = await noted.catch((error) => {
    // The code is used up and the session is valid. The next page reports the outage and works after a reload.
    if (error instanceof AppError && error.code === "unavailable") return { onboarded: true, leaving: undefined };
    throw error;
  });
  if (leaving) return c.redirect("/account/delete", 303);
  return c.redirect(onboarded ? next ?? "/account" : withNext("/onboarding", next), 303);
}
