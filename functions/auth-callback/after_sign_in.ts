/** Where a person goes once signed in. */
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { withNext } from "../../shared/identity/next_path.ts";
import type { PageDeps } from "./page_deps.ts";
import { forgetAddress } from "./sign_in_address.ts";

/** To onboarding without a country, else to where they wanted to go, else to the account. */
export async function goOn(
  c: AppContext,
  deps: PageDeps,
  { userId, next }: { userId: string; next: string | undefined },
): Promise<Response> {
  forgetAddress(c, deps);
  const onboarded = await deps.store.readOnboarding(userId).then((answer) => answer.onboarded).catch((error) => {
    // The code is spent and the session stands: the page they go to says what is wrong, and works when tried again.
    if (error instanceof AppError && error.code === "unavailable") return true;
    throw error;
  });
  return c.redirect(onboarded ? next ?? "/account" : withNext("/onboarding", next), 303);
}
