/**
 * `SIGN_UP=invited`: a person without an account needs an invitation. Without one, the sign-in mail creates no
 * account. An account from another source, such as another sign-in service, gets no organization.
 */
import { AppError } from "../../../shared/errors.ts";
import type { OpenPageDeps } from "../page_guards.ts";

type SignUpDeps = Pick<OpenPageDeps, "config" | "store" | "clock">;

export async function maySignUp({ config, store, clock }: SignUpDeps, email: string): Promise<boolean> {
  return config.signUp !== "invited" || (await store.maySignUp({ email, at: clock() })).may;
}

/** @throws {AppError} `forbidden` for a person who may not create an organization */
export async function refuseUninvited(deps: SignUpDeps, { email }: { email: string }): Promise<void> {
  if (await maySignUp(deps, email)) return;
  throw new AppError("forbidden", "sign-up needs an invitation", { says: ({ onlyInvited }) => onlyInvited });
}
