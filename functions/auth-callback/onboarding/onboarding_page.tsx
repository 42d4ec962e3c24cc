/** @jsxImportSource hono/jsx */
/** The onboarding form: five fields, each filled in as well as we can guess, each with the reason we ask. */
import type { Onboarding } from "../../../shared/db/identity_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createBrowserToken } from "../../../shared/http/browser_token.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { COUNTRIES } from "../profile/country.ts";
import { RENAMED_TIMEZONES, timezones } from "../profile/timezone.ts";
import { BrowserToken, Buttons, Name, Notice, SelectField, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { PageDeps } from "../page_guards.ts";

/** What is wrong with a field, in a sentence, by field. */
export type Problems = Partial<Record<keyof Onboarding, string>>;

export interface OnboardingView {
  user: SignedInUser;
  currencies: readonly string[];
  values: Onboarding;
  problems: Problems;
  /** The values are our guesses, which the browser may better. */
  isFresh: boolean;
}

export async function renderOnboarding(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, currencies, values, problems, isFresh }: OnboardingView,
): Promise<Response> {
  const here = c.req.path + new URL(c.req.url).search;
  const browserToken = await createBrowserToken(c, config);
  const hasProblems = Object.keys(problems).length > 0;
  return renderPage(c, {
    title: "A few things before we start",
    config,
    status: hasProblems ? 400 : 200,
    ...(isFresh && { script: SUGGEST }),
    children: (
      <>
        <h1>A few things before we start</h1>
        {hasProblems
          ? (
            <Notice kind="failure">
              <p>Nothing was saved yet. Please look at what is marked below.</p>
            </Notice>
          )
          : <p class="lead">We filled in what we could guess. Change what is wrong.</p>}
        <form method="post" action={here} class="stack">
          <input
            type="hidden"
            name="form_token"
            value={await createFormToken(config, { userId: user.id, at: clock() })}
          />
          <SelectField
            name="country"
            label="Country"
            reason="For the currency and the time zone that we suggest."
            error={problems.country}
            required
            autocomplete="country"
            selected={values.country}
            options={COUNTRIES.map(({ code, name, currency }) => ({
              value: code,
              label: name,
              "data-currency": currency,
            }))}
          />
          <TextField
            name="organization_name"
            label="Name of your organization"
            reason="Whose expenses these are: yours, a household’s, a business’s. You see it when you connect an assistant."
            error={problems.organization_name}
            value={values.organization_name}
            required
            maxlength={120}
            autocomplete="organization"
            dir="auto"
          />
          <SelectField
            name="timezone"
            label="Time zone"
            reason="For reminders at the right day, and so that “yesterday” means your yesterday."
            error={problems.timezone}
            required
            selected={values.timezone}
            options={timezones(values.timezone).map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
          />
          <SelectField
            name="base_currency"
            label="Main currency"
            reason="Totals are shown in it. Every expense keeps the currency it was paid in."
            error={problems.base_currency}
            required
            selected={values.base_currency}
            options={currencies.map((code) => ({ value: code, label: `${code} – ${currencyNames.of(code)}` }))}
          />
          <TextField
            name="reminder_email"
            label="E-mail for reminders"
            reason="Where we tell you what falls due. If it is another address than yours, we first ask there."
            error={problems.reminder_email}
            type="email"
            value={values.reminder_email}
            required
            maxlength={254}
            autocomplete="email"
          />
          <Buttons>
            <button class="primary" type="submit">Start</button>
          </Buttons>
        </form>
        <section class="small muted">
          <form method="post" action="/logout">
            <BrowserToken token={browserToken} />
            Signed in as <Name>{user.email}</Name>. <button class="link" type="submit">Not you?</button>
          </form>
        </section>
      </>
    ),
  });
}

const currencyNames = new Intl.DisplayNames("en", { type: "currency" });

// The browser knows its own time zone, and a changed country suggests its currency until one is chosen by hand.
const SUGGEST = `{
const [country, zone, currency] = ["country", "timezone", "base_currency"].map((id) => document.getElementById(id));
const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const name = ${JSON.stringify(RENAMED_TIMEZONES)}[own] || own;
if (name) {
  if (![...zone.options].some((option) => option.value === name)) zone.add(new Option(name.replaceAll("_", " "), name));
  zone.value = name;
}
let chosen = false;
currency.addEventListener("change", () => { chosen = true; });
country.addEventListener("change", () => {
  const suggested = country.selectedOptions[0].dataset.currency;
  if (!chosen && [...currency.options].some((option) => option.value === suggested)) currency.value = suggested;
});
}`;
