/** The page between the first sign-in and using the service. */
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { countryOfLanguages, currencyOfCountry, isCountry } from "../profile/country.ts";
import { isEmail, reminderAddress } from "../profile/email.ts";
import { safeNextPath } from "../../../shared/next_path.ts";
import { invitationTokenOf } from "../members/addresses.ts";
import { hashInvitationToken } from "../members/mails.ts";
import { isTimezone, timezoneOfCountry } from "../profile/timezone.ts";
import type { Onboarding } from "../../../shared/db/identity_store.ts";
import type { Words } from "../../../shared/words/words.ts";
import { type Problems, renderOnboarding } from "./onboarding_page.tsx";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { mailReminderConfirmation } from "../account/reminder_confirmation.ts";

const goalOf = (c: AppContext) => safeNextPath(c.req.query("next")) ?? "/account";

export const showOnboarding = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { onboarded, currencies } = await deps.store.readOnboarding(user.id);
    if (onboarded) return c.redirect(goalOf(c), 303);
    const isInvited = await comesForInvitation(c, deps, user);
    const values = suggest(c, user);
    return await renderOnboarding(c, deps, { user, currencies, values, problems: {}, isFresh: true, isInvited });
  });

export const postOnboarding = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const { onboarding: words } = c.get("reader").words;
    const values = read(form, user, words);
    const isInvited = await comesForInvitation(c, deps, user);
    const problems = check(values, words);
    if (Object.keys(problems).length === 0) {
      const answer = await deps.store.completeOnboarding({
        ...values,
        organization_name: isInvited ? null : values.organization_name,
        userId: user.id,
        email: user.email,
        at: deps.clock(),
      });
      if (answer.outcome === "created" && values.reminder_email !== user.email) {
        await mailReminderConfirmation(c, deps, { user, address: values.reminder_email });
      }
      if (answer.outcome === "leaving") return c.redirect("/account/delete", 303);
      // Submitting twice has the same result as submitting once.
      if (answer.outcome !== "invalid") return c.redirect(goalOf(c), 303);
      problems[answer.field] = words.notInList;
    }
    const { currencies } = await deps.store.readOnboarding(user.id);
    return await renderOnboarding(c, deps, { user, currencies, values, problems, isFresh: false, isInvited });
  });

/** Whether they are about to accept an invitation: then they need no organization of their own. */
async function comesForInvitation(c: AppContext, { members, clock }: PageDeps, user: SignedInUser): Promise<boolean> {
  const tokenHash = hashInvitationToken(invitationTokenOf(safeNextPath(c.req.query("next"))));
  if (!tokenHash) return false;
  const { outcome } = await members.readInvitation({ userId: user.id, email: user.email, tokenHash, at: clock() });
  return outcome === "open";
}

function suggest(c: AppContext, user: SignedInUser): Onboarding {
  const country = countryOfLanguages(c.req.header("accept-language"));
  return {
    country: country ?? "",
    organization_name: c.get("reader").words.onboarding.personal,
    timezone: timezoneOfCountry(country),
    base_currency: currencyOfCountry(country) ?? "EUR",
    reminder_email: user.email,
  };
}

type OnboardingWords = Words["pages"]["onboarding"];

const read = (form: Form, user: SignedInUser, words: OnboardingWords): Onboarding => {
  const country = form.get("country")?.toUpperCase() ?? "";
  return {
    country,
    organization_name: form.get("organization_name") || words.personal,
    timezone: form.get("timezone") || timezoneOfCountry(country),
    base_currency: form.get("base_currency")?.toUpperCase() || currencyOfCountry(country) || "EUR",
    reminder_email: reminderAddress(form.get("reminder_email"), user.email),
  };
};

function check(values: Onboarding, words: OnboardingWords): Problems {
  return {
    ...(!isCountry(values.country) && { country: words.chooseCountry }),
    ...(values.organization_name.length > 120 && { organization_name: words.nameTooLong }),
    ...(!isTimezone(values.timezone) && { timezone: words.chooseTimezone }),
    ...(!isEmail(values.reminder_email) && { reminder_email: words.notAnAddress }),
  };
}
