/** @jsxImportSource hono/jsx */
/**
 * The plan of one organization, the next step, and what each plan includes and costs. Owners find links to buy, to see
 * invoices and to cancel. The page changes nothing itself.
 */
import type { Account, AccountOrganization, Plan } from "../../../shared/db/identity_store.ts";
import type { Config } from "../../../shared/config.ts";
import { AppError } from "../../../shared/errors.ts";
import { withNext } from "../../../shared/next_path.ts";
import { Buttons, Name, Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { StateText } from "../../../shared/pages/organization_state.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { createUrls } from "../../../shared/urls.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import { type Handler, type PageDeps, signedIn } from "../page_guards.ts";
import { planText } from "./plan_text.ts";
import { tabsIn } from "./tabs_in.ts";

interface PlanView {
  organization: AccountOrganization;
  features: Account["plan_features"];
  config: Config;
  words: PageWords;
  format: PageFormat;
}

/** `/organizations/:id/plan`. Not found while plans are off. */
export const showPlan = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const account = await deps.store.readAccount({ userId: user.id, at: deps.clock() });
    if (!account) return c.redirect(withNext("/onboarding", c.req.path), 303);
    const organization = account.organizations.find(({ id }) => id === c.req.param("id"));
    if (!organization) throw new AppError("not_found", "no organization of theirs");
    if (!account.plans_enabled) return c.redirect("/account", 303);
    const { config } = deps;
    const reader = livingIn(c, account.profile.country);
    const { words, format } = reader;
    const view = { organization, features: account.plan_features, config, words, format };
    return await renderPage(c, {
      title: words.planPage.title,
      config,
      user,
      tabs: tabsIn(account, organization, "plan"),
      children: (
        <>
          <h1>{words.planPage.heading(<Name>{organization.name}</Name>)}</h1>
          {organization.deletes_at ? <Deleting organization={organization} reader={reader} /> : (
            <>
              <p class="lead">{planText(organization, { words: words.plan, format })}.</p>
              <NextStep {...view} />
              <section>
                <h2>{words.planPage.plans}</h2>
                <ul class="rows">
                  {(["free", "pro", "team"] as const).map((plan) => <PlanRow {...view} plan={plan} />)}
                </ul>
              </section>
            </>
          )}
          {/* A paid plan remains cancellable, because deleting an organization doesn't end its subscription. */}
          {(!organization.deletes_at || organization.plan !== "free") && <Paying {...view} />}
        </>
      ),
    });
  });

function Deleting({ organization, reader }: { organization: AccountOrganization; reader: Reader }) {
  const { id, name, deletes_at, owner_email: owner, role } = organization;
  return (
    <Notice kind="warning">
      <p>
        <StateText id={id} state={{ name, deletes_at, owner, is_owner: role === "owner" }} reader={reader} />
      </p>
    </Notice>
  );
}

/** Selects the sentence about the next step; undefined if there is none. */
function nextStep({ organization, words: { planPage: { next }, plan: { names } }, format }: PlanView) {
  const { plan, plan_status, effective_plan, is_trial, trial_ends_at, grace_ends_at } = organization;
  if (plan_status === "past_due" && grace_ends_at) {
    return effective_plan === "free" ? next.stopped : next.pastDue(grace_ends_at, format);
  }
  if (is_trial && trial_ends_at) {
    if (plan === "free") return next.trial(trial_ends_at, format);
    return plan === "pro" ? next.trialOfPaid(trial_ends_at, names.pro, format) : undefined;
  }
  if (effective_plan !== "free") return undefined;
  return trial_ends_at && plan_status === "active" ? next.trialEnded : next.free;
}

function NextStep(view: PlanView) {
  const { organization, config, words: { planPage: words, plan: { names } } } = view;
  const says = nextStep(view);
  const mayChange = organization.rights.includes("plan:manage");
  if (!says && mayChange) return null;
  const buy = createUrls(config).checkout(organization.id, "team");
  const invoices = createUrls(config).invoices(organization.id);
  const isUnpaid = organization.plan_status === "past_due" && invoices;
  return (
    <Notice kind={organization.effective_plan === "free" || isUnpaid ? "warning" : "plain"}>
      {says && <p>{says}</p>}
      {!mayChange && <p>{words.onlyOwner(<Name>{organization.owner_email}</Name>)}</p>}
      {mayChange && (isUnpaid || buy) && (
        <Buttons>
          {isUnpaid
            ? <a class="button primary" href={invoices}>{words.invoices}</a>
            : config.checkoutUrl
            ? (["team", "pro"] as const).filter(isSoldIn(config)).map((plan, n) => (
              <a
                class={n === 0 ? "button primary" : "button"}
                href={createUrls(config).checkout(organization.id, plan)}
              >
                {words.choose(names[plan])}
              </a>
            ))
            : <a class="button primary" href={buy}>{words.seePlans}</a>}
        </Buttons>
      )}
    </Notice>
  );
}

/** Without `{plan}` in its URL, the checkout lets people choose the plan. */
const isSoldIn = ({ checkoutUrl }: Config) => (_: Plan, n: number) => n === 0 || checkoutUrl!.includes("{plan}");

function PlanRow({ organization, features, config, words, plan }: PlanView & { plan: Plan }) {
  const { planPage, plan: { names } } = words;
  const before = plan === "team" ? features.pro ?? [] : [];
  const own = (features[plan] ?? []).filter((feature) => !before.includes(feature));
  const price = { free: planPage.free, pro: config.proPrice, team: config.teamPrice }[plan];
  return (
    <li class="row entry">
      <div>
        <h3>
          {names[plan]} {organization.effective_plan === plan && <span class="tag">{planPage.current}</span>}
        </h3>
        {plan === "team" && <p>{planPage.everythingOf(names.pro)}</p>}
        <ul class="ticks">
          {own.length > 0
            ? own.map((feature) => <li>{planPage.features[feature]}</li>)
            : <li>{planPage.freeIncludes}</li>}
          {plan === "team" && <li>{planPage.invitations}</li>}
        </ul>
      </div>
      {price && <p class="price">{price}</p>}
    </li>
  );
}

/** Links to invoices and cancellation, or a contact address. */
function Paying({ organization, config, words: { planPage: words } }: PlanView) {
  if (!organization.rights.includes("plan:manage")) return null;
  const urls = createUrls(config);
  const [invoices, cancel] = [urls.invoices(organization.id), urls.cancelPlan(organization.id)];
  const isPaid = organization.plan !== "free";
  return (
    <section>
      <h2>{words.paying}</h2>
      {invoices && (
        <p>
          <a href={invoices}>{words.invoices}</a>
        </p>
      )}
      {cancel && isPaid && (
        <>
          <p>{words.cancelMeans}</p>
          <p>
            <a class="danger" href={cancel}>{words.cancel}</a>
          </p>
        </>
      )}
      {(!invoices || (!cancel && isPaid)) && (
        <p>
          {config.supportUrl ? words.askContact((text) => <a href={config.supportUrl}>{text}</a>) : words.askOperator}
        </p>
      )}
    </section>
  );
}
