/** @jsxImportSource hono/jsx */
/** Creates another organization for a person. `?next=` is the next page, because the consent page links here. */
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { claimAttempt } from "../../../shared/http/attempts.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { safeNextPath } from "../../../shared/next_path.ts";
import { Notice, SelectField, Submit, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { currencyOfCountry, currencyOptions } from "../profile/country.ts";
import { refuseUninvited } from "../sign_in/may_sign_up.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";

interface Values {
  name: string;
  /** The country's currency if absent. */
  baseCurrency?: string | undefined;
}
type Problems = { name?: string; base_currency?: string };

export const showNewOrganization = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    await refuseUninvited(deps, user);
    return await render(c, deps, { user, values: { name: "" }, problems: {} });
  });

export const postNewOrganization = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const values = { name: form.get("name") ?? "", baseCurrency: form.get("base_currency")?.toUpperCase() ?? "" };
    const { newOrganization: { problems: words } } = c.get("reader").words;
    const refuse = (problems: Problems) => render(c, deps, { user, values, problems });
    if (values.name.length < 1 || values.name.length > 120) return await refuse({ name: words.name });
    await refuseUninvited(deps, user);
    await claimAttempt(c, deps, { attempt: "organization", subject: user.id });
    const answer = await deps.members.createOrganization({ userId: user.id, ...values, at: deps.clock() });
    switch (answer.outcome) {
      case "created":
        return c.redirect(safeNextPath(c.req.query("next")) ?? "/account?done=created", 303);
      case "invalid":
        return await refuse({ base_currency: words.currency });
      case "too_many":
        return await refuse({ name: words.tooMany(answer.most) });
      case "leaving":
        return c.redirect("/account/delete", 303);
      case "unknown":
        throw new AppError("not_found", "no profile", { says: ({ notSetUp }) => notSetUp });
    }
  });

async function render(
  c: AppContext,
  { config, members, clock }: PageDeps,
  { user, values, problems }: { user: SignedInUser; values: Values; problems: Problems },
): Promise<Response> {
  const at = clock();
  const here = c.req.path + new URL(c.req.url).search;
  const asked = await members.readNewOrganization({ userId: user.id, at });
  // Has no path back to this page, which would redirect a suspended person in a loop.
  if (!asked) return c.redirect("/onboarding", 303);
  const reader = livingIn(c, asked.country);
  const { newOrganization: words, frame } = reader.words;
  const hasProblems = Object.keys(problems).length > 0;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    status: hasProblems ? 400 : 200,
    children: (
      <>
        {hasProblems && (
          <Notice kind="failure">
            <p>{words.problems.intro}</p>
          </Notice>
        )}
        <h1>{words.title}</h1>
        <p class="lead">{words.lead}</p>
        {asked.gets_trial !== null && <p>{asked.gets_trial ? words.trial : words.noTrial}</p>}
        <form method="post" action={here} class="stack">
          <input type="hidden" name="form_token" value={await createFormToken(config, { userId: user.id, at })} />
          <TextField
            name="name"
            label={words.name}
            reason={words.nameReason}
            error={problems.name}
            value={values.name}
            required
            maxlength={120}
            autocomplete="organization"
            dir="auto"
          />
          <SelectField
            name="base_currency"
            label={words.currency}
            reason={words.currencyReason}
            error={problems.base_currency}
            required
            selected={values.baseCurrency ?? currencyOfCountry(asked.country)}
            unchosen={frame.choose}
            options={currencyOptions(asked.currencies, reader)}
          />
          <Submit>{words.create}</Submit>
        </form>
      </>
    ),
  });
}
