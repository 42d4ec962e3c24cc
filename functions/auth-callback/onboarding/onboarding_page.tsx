/** @jsxImportSource hono/jsx */
/** The onboarding form: five fields with guessed values, each with the reason for the question. */
import type { Onboarding } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { countriesByName, currencyOptions } from "../profile/country.ts";
import { countryOfTimezone, RENAMED_TIMEZONES, timezones } from "../profile/timezone.ts";
import { BrowserToken, Name, Notice, SelectField, Submit, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Reader } from "../../../shared/words/reader.ts";
import type { PageDeps } from "../page_guards.ts";

/** The problem with each field, as a sentence. */
export type Problems = Partial<Record<keyof Onboarding, string>>;

export interface OnboardingView {
  user: SignedInUser;
  currencies: readonly string[];
  values: Onboarding;
  problems: Problems;
  /** The values are guesses; the browser may know better ones. */
  isFresh: boolean;
}

export async function renderOnboarding(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, currencies, values, problems, isFresh }: OnboardingView,
): Promise<Response> {
  const here = c.req.path + new URL(c.req.url).search;
  const browserToken = await createBrowserToken(c, config);
  const { words: { onboarding: words, frame } } = c.get("reader");
  const fields = { values, problems, reader: c.get("reader") };
  const hasProblems = Object.keys(problems).length > 0;
  return renderPage(c, {
    title: words.title,
    config,
    status: hasProblems ? 400 : 200,
    ...(isFresh && { script: SUGGEST }),
    children: (
      <>
        <h1>{words.title}</h1>
        {hasProblems
          ? (
            <Notice kind="failure">
              <p>{words.problems}</p>
            </Notice>
          )
          : <p class="lead">{words.lead}</p>}
        <form method="post" action={here} class="stack">
          <input
            type="hidden"
            name="form_token"
            value={await createFormToken(config, { userId: user.id, at: clock() })}
          />
          <CountryField {...fields} />
          <TextField
            name="organization_name"
            label={words.organization}
            reason={words.organizationReason}
            error={problems.organization_name}
            value={values.organization_name}
            required
            maxlength={120}
            autocomplete="organization"
            dir="auto"
          />
          <TimezoneField {...fields} />
          <SelectField
            name="base_currency"
            label={words.currency}
            reason={words.currencyReason}
            error={problems.base_currency}
            required
            selected={values.base_currency}
            unchosen={frame.choose}
            options={currencyOptions(currencies, c.get("reader"))}
          />
          <TextField
            name="reminder_email"
            label={words.email}
            reason={words.emailReason}
            error={problems.reminder_email}
            type="email"
            value={values.reminder_email}
            required
            maxlength={254}
            autocomplete="email"
          />
          <Submit>{words.start}</Submit>
        </form>
        <section class="small muted">
          <form method="post" action="/logout">
            <BrowserToken token={browserToken} />
            {words.signedInAs(<Name>{user.email}</Name>)} <button class="link" type="submit">{words.notYou}</button>
          </form>
        </section>
      </>
    ),
  });
}

export interface PersonFields {
  values: Pick<Onboarding, "country" | "timezone">;
  problems: Problems;
  reader: Reader;
}

export const CountryField = (
  { values, problems, reader: { words: { onboarding: words, frame }, format } }: PersonFields,
) => (
  <SelectField
    name="country"
    label={words.country}
    reason={words.countryReason}
    error={problems.country}
    required
    autocomplete="country"
    selected={values.country}
    unchosen={frame.choose}
    options={countriesByName(format).map(({ code, name, currency }) => ({
      value: code,
      label: name,
      "data-currency": currency,
    }))}
  />
);

export const TimezoneField = ({ values, problems, reader: { words: { onboarding: words, frame } } }: PersonFields) => (
  <SelectField
    name="timezone"
    label={words.timezone}
    reason={words.timezoneReason}
    error={problems.timezone}
    required
    selected={values.timezone}
    unchosen={frame.choose}
    options={timezones(values.timezone).map((zone) => ({
      value: zone,
      label: zone.replaceAll("_", " "),
      "data-country": countryOfTimezone(zone) ?? "",
    }))}
  />
);

// The browser's time zone is a better hint than its language, which people often leave at "English (United States)".
// Changing the country also changes the suggested currency until the person chooses one.
export const SUGGEST = `{
const [country, zone, currency] = ["country", "timezone", "base_currency"].map((id) => document.getElementById(id));
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const name = ${JSON.stringify(RENAMED_TIMEZONES)}[own] || own;
if (name) {
  if (![...zone.options].some((option) => option.value === name)) zone.add(new Option(name.replaceAll("_", " "), name));
  zone.value = name;
}
let chosen = false;
currency?.addEventListener("change", () => { chosen = true; });
const suggest = () => {
  const suggested = country.selectedOptions[0].dataset.currency;
  if (!chosen && currency && [...currency.options].some((option) => option.value === suggested)) currency.value = suggested;
};
country.addEventListener("change", suggest);
const here = name && zone.selectedOptions[0].dataset.country;
if (here) {
  country.value = here;
  suggest();
}
}`;
