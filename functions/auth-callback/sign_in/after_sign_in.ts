/** What is noted of a person who has signed in, and where they go. */
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { forgetVerifiers } from "../../../shared/http/session.ts";
import { withNext } from "../../../shared/next_path.ts";
import type { PageDeps } from "../page_guards.ts";
import { forgetSignIn } from "./waiting_sign_in.ts";

/** To onboarding without a country, else to where they wanted to go, else to the account. @param user as the identity provider knows them now. */
export async function continueAfterSignIn(
  c: AppContext,
  deps: PageDeps,
  { user, next }: { user: { id: string; email?: string | undefined }; next: string | undefined },
): Promise<Response> {
  forgetSignIn(c, deps);
  forgetVerifiers(c, deps);
  const { id: userId, email } = user;
  const noted = email ? deps.store.noteSignIn({ userId, email, at: deps.clock() }) : deps.store.readOnboarding(userId);
  const onboarded = await noted.then((answer) => answer.onboarded).catch((error) => {
    // The code is spent and the session stands: the page they go to says what is wrong, and works when tried again.
    if (error instanceof AppError && error.code === "unavailable") return true;
    throw error;
  });
  return c.redirect(onboarded ? next ?? "/account" : withNext("/onboarding", next), 303);
}
