/** The page between a person's first sign-in and first use of the service. */
import type { AppContext } from "../../../shared/http/app.ts";
import { countryOfLanguages, currencyOfCountry, isCountry } from "../profile/country.ts";
import { isEmail, reminderAddress } from "../profile/email.ts";
import { safeNextPath } from "../../../shared/next_path.ts";
import { refuseUninvited } from "../sign_in/may_sign_up.ts";
import { invitationTokenOf } from "../members/addresses.ts";
import { isTimezone, timezoneOfCountry } from "../profile/timezone.ts";
import type { Onboarding } from "../../../shared/db/identity_store.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import { type Problems, renderOnboarding } from "./onboarding_page.tsx";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { mailReminderConfirmation } from "../account/reminder_confirmation.ts";

const goalOf = (c: AppContext) => safeNextPath(c.req.query("next")) ?? "/account";

export const showOnboarding = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { onboarded, currencies } = await deps.store.readOnboarding(user.id);
    // An invited person's form asks for no organization.
    if (onboarded || invitationTokenOf(goalOf(c))) return c.redirect(goalOf(c), 303);
    await refuseUninvited(deps, user);
    const values = suggest(c, user.email);
    return await renderOnboarding(c, deps, { user, currencies, values, problems: {}, isFresh: true });
  });

export const postOnboarding = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const { onboarding: words } = c.get("reader").words;
    const values = read(form, user.email, words);
    await refuseUninvited(deps, user);
    const problems = check(values, words);
    if (Object.keys(problems).length === 0) {
      const answer = await deps.store.completeOnboarding({
        ...values,
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
    return await renderOnboarding(c, deps, { user, currencies, values, problems, isFresh: false });
  });

export function suggest(c: AppContext, email: string): Onboarding {
  const country = countryOfLanguages(c.req.header("accept-language"));
  return {
    country: country ?? "",
    organization_name: c.get("reader").words.onboarding.personal,
    timezone: timezoneOfCountry(country),
    base_currency: currencyOfCountry(country) ?? "EUR",
    reminder_email: email,
  };
}

type OnboardingWords = PageWords["onboarding"];

export const read = (form: Form, email: string, words: OnboardingWords): Onboarding => {
  const country = form.get("country")?.toUpperCase() ?? "";
  return {
    country,
    organization_name: form.get("organization_name") || words.personal,
    timezone: form.get("timezone") || timezoneOfCountry(country),
    base_currency: form.get("base_currency")?.toUpperCase() || currencyOfCountry(country) || "EUR",
    reminder_email: reminderAddress(form.get("reminder_email"), email),
  };
};

export function check(values: Onboarding, words: OnboardingWords): Problems {
  return {
    ...(!isCountry(values.country) && { country: words.chooseCountry }),
    ...(values.organization_name.length > 120 && { organization_name: words.nameTooLong }),
    ...(!isTimezone(values.timezone) && { timezone: words.chooseTimezone }),
    ...(!isEmail(values.reminder_email) && { reminder_email: words.notAnAddress }),
  };
}
