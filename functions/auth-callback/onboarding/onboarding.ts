/** The one page between signing in for the first time and using the service. */
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { countryOfLanguages, currencyOfCountry, isCountry } from "../profile/country.ts";
import { isEmail, reminderAddress } from "../profile/email.ts";
import { safeNextPath } from "../../../shared/next_path.ts";
import { isTimezone, timezoneOfCountry } from "../profile/timezone.ts";
import type { Onboarding } from "../../../shared/db/identity_store.ts";
import { type Problems, renderOnboarding } from "./onboarding_page.tsx";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { mailReminderConfirmation } from "../account/reminder_confirmation.ts";

const goalOf = (c: AppContext) => safeNextPath(c.req.query("next")) ?? "/account";

export const showOnboarding = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { onboarded, currencies } = await deps.store.readOnboarding(user.id);
    if (onboarded) return c.redirect(goalOf(c), 303);
    return await renderOnboarding(c, deps, { user, currencies, values: suggest(c, user), problems: {}, isFresh: true });
  });

export const postOnboarding = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const values = read(form, user);
    const problems = check(values);
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
      // A second press of the button finds everything there and goes on like the first.
      if (answer.outcome !== "invalid") return c.redirect(goalOf(c), 303);
      problems[answer.field] = "We do not know this one. Choose another from the list.";
    }
    const { currencies } = await deps.store.readOnboarding(user.id);
    return await renderOnboarding(c, deps, { user, currencies, values, problems, isFresh: false });
  });

function suggest(c: AppContext, user: SignedInUser): Onboarding {
  const country = countryOfLanguages(c.req.header("accept-language"));
  return {
    country: country ?? "",
    organization_name: "Personal",
    timezone: timezoneOfCountry(country),
    base_currency: currencyOfCountry(country) ?? "EUR",
    reminder_email: user.email,
  };
}

const read = (form: Form, user: SignedInUser): Onboarding => ({
  country: form.get("country")?.toUpperCase() ?? "",
  organization_name: form.get("organization_name") || "Personal",
  timezone: form.get("timezone") || timezoneOfCountry(form.get("country")),
  base_currency: form.get("base_currency")?.toUpperCase() || currencyOfCountry(form.get("country")) || "EUR",
  reminder_email: reminderAddress(form.get("reminder_email"), user.email),
});

function check(values: Onboarding): Problems {
  return {
    ...(!isCountry(values.country) && { country: "Choose a country." }),
    ...(values.organization_name.length > 120 && { organization_name: "Use at most 120 characters." }),
    ...(!isTimezone(values.timezone) && { timezone: "Choose a time zone from the list." }),
    ...(!isEmail(values.reminder_email) && {
      reminder_email: "That is not an e-mail address. Check it for a typing error.",
    }),
  };
}
