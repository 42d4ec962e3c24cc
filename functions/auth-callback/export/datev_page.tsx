/** @jsxImportSource hono/jsx */
/** The form of the DATEV accounts, or the saved accounts for people who may only read. */
import type { Child } from "hono/jsx";
import { TAX_RATES, withoutAccount } from "../../../shared/export/datev_settings.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Buttons, Facts, Name, Notice, RadioList, SelectField, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { datevPath, organizationPath } from "../../../shared/urls.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import type { PageDeps } from "../page_guards.ts";
import { CategoryNames } from "./category_names.tsx";
import { type DatevCategory, isUsed } from "./datev_categories.ts";
import { accountField, taxField, type TypedDatev } from "./datev_form.ts";
import type { Exporting } from "./export_page.tsx";

interface DatevView extends Exporting {
  categories: readonly DatevCategory[];
  typed: TypedDatev;
  isSaved: boolean;
}

export async function renderDatev(c: AppContext, { config, clock }: PageDeps, view: DatevView): Promise<Response> {
  const { user, organizationId, organization, categories, typed, isSaved } = view;
  const reader = c.get("reader");
  const { datev: words } = reader.words;
  const value = await createFormToken(config, { userId: user.id, at: clock() });
  const hasProblems = Object.keys(typed.problems).length > 0;
  const missing = organization.datev ? withoutAccount(organization.datev, categories.filter(isUsed)) : [];
  const { base_currency: currency } = organization;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(organizationId, organization.state, "export"),
    status: hasProblems ? 400 : 200,
    children: (
      <>
        {isSaved && (
          <Notice kind="done">
            <p>{words.saved}</p>
          </Notice>
        )}
        {hasProblems && (
          <Notice kind="failure">
            <p>{words.problems.intro}</p>
          </Notice>
        )}
        <h1>{words.heading(<Name>{organization.name}</Name>)}</h1>
        <StateNotice id={organizationId} state={organization.state} reader={reader} />
        <p class="lead">{words.lead}</p>
        {currency && currency !== "EUR" && (
          <Notice kind="warning">
            <p>{words.otherCurrency(currency)}</p>
          </Notice>
        )}
        {missing.length > 0 && !hasProblems && (
          <Notice kind="warning">
            <p>{words.missing(<CategoryNames categories={missing} />, organization.datev?.clearing)}</p>
          </Notice>
        )}
        {organization.may_change
          ? (
            <DatevForm
              {...{ categories, typed, reader }}
              here={datevPath(organizationId)}
              token={<input type="hidden" name="form_token" value={value} />}
            />
          )
          : <DatevFacts {...{ categories, typed, reader }} />}
        <p class="back">
          <a href={organizationPath(organizationId, "export")}>{words.back}</a>
        </p>
      </>
    ),
  });
}

type FormView = Pick<DatevView, "categories" | "typed"> & { reader: Reader };

function DatevForm({ categories, typed, reader, here, token }: FormView & { here: string; token: Child }) {
  const { datev: words, frame } = reader.words;
  const { values, problems } = typed;
  const Field = ({ name, most = 4, ...field }: {
    name: string;
    label: Child;
    reason?: Child;
    most?: number;
    required?: boolean;
  }) => (
    <TextField
      name={name}
      error={problems[name]}
      value={values[name] ?? ""}
      inputmode="numeric"
      autocomplete="off"
      maxlength={most}
      {...field}
    />
  );
  return (
    <form method="post" action={here}>
      {token}
      <section class="stack">
        <h2>{words.client}</h2>
        <Field name="consultant" label={words.consultantNumber} reason={words.consultantReason} most={7} required />
        <Field name="client" label={words.clientNumber} reason={words.clientReason} most={5} required />
        <RadioList
          name="chart"
          legend={words.chart}
          choices={(["03", "04"] as const).map((chart) => ({
            value: chart,
            title: words.charts[chart],
          }))}
          selected={values.chart}
        />
        {problems.chart && <p class="invalid">{problems.chart}</p>}
        <SelectField
          name="year_starts"
          label={words.yearStarts}
          error={problems.year_starts}
          selected={values.year_starts}
          unchosen={frame.choose}
          options={words.months.map((label, index) => ({ value: String(index + 1), label }))}
        />
        <label class="choice">
          <input type="checkbox" name="locks" value="yes" checked={values.locks === "yes"} /> {words.locks}
        </label>
      </section>
      <section class="stack">
        <h2>{words.counter}</h2>
        <Field name="paid_from" label={words.paidFrom} reason={words.paidFromReason} required />
        <Field name="clearing" label={words.clearing} reason={words.clearingReason} />
        {TAX_RATES.map((rate) => (
          <Field
            name={taxField(rate)}
            label={words.taxKey(reader.format.percent(Number(rate)))}
            reason={words.taxKeyReason}
          />
        ))}
      </section>
      <section>
        <h2>{words.accounts}</h2>
        <p>{words.accountsReason}</p>
        <div class="numbers">
          {categories.map(({ id, name }) => <Field name={accountField(id)} label={<Name>{name}</Name>} />)}
        </div>
        <Buttons>
          <button class="primary" type="submit">{words.save}</button>
        </Buttons>
      </section>
    </form>
  );
}

function DatevFacts({ categories, typed: { values }, reader }: FormView) {
  const { datev: words } = reader.words;
  if (!values.consultant) {
    return (
      <>
        <p>{words.unset}</p>
        <p>{words.readOnly}</p>
      </>
    );
  }
  const of = (name: string) => values[name] || words.none;
  return (
    <>
      <p>{words.readOnly}</p>
      <Facts
        facts={[
          [words.consultantNumber, of("consultant")],
          [words.clientNumber, of("client")],
          [words.chart, words.charts[values.chart === "04" ? "04" : "03"]],
          [words.yearStarts, words.months[Number(values.year_starts) - 1]],
          [words.paidFrom, of("paid_from")],
          [words.clearing, of("clearing")],
          ...TAX_RATES.map((rate) => [words.taxKey(reader.format.percent(Number(rate))), of(taxField(rate))] as const),
          [words.locks, values.locks ? words.yes : words.no],
          ...categories.map(({ id, name }) => [<Name>{name}</Name>, of(accountField(id))] as const),
        ]}
      />
    </>
  );
}
