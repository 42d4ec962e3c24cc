/**
 * `SIGN_UP=invited`: who has no account needs an invitation. The sign-in mail creates no account for others, and an
 * account that came about in another way, such as by another service, gets no organization.
 */
import { AppError } from "../../../shared/errors.ts";
import type { OpenPageDeps } from "../page_guards.ts";

type SignUpDeps = Pick<OpenPageDeps, "config" | "store" | "clock">;

export async function maySignUp({ config, store, clock }: SignUpDeps, email: string): Promise<boolean> {
  return config.signUp !== "invited" || (await store.maySignUp({ email, at: clock() })).may;
}

/** @throws {AppError} `forbidden` for somebody who may not have an organization of their own. */
export async function refuseUninvited(deps: SignUpDeps, { email }: { email: string }): Promise<void> {
  if (await maySignUp(deps, email)) return;
  throw new AppError("forbidden", "sign-up needs an invitation", { says: ({ onlyInvited }) => onlyInvited });
}
