/** The approvals page of an organization: pending proposals and the owner's rules. */
import type { ApprovalPolicy, NewRule } from "../../../shared/approvals/proposal.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { organizationPath } from "../../../shared/urls.ts";
import { notAllowed } from "../members/asked.ts";
import { noPage, organizationOf } from "../page_params.ts";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { keyOf, readRule, type TypedRule } from "./policy_form.ts";
import { type PolicyDone, renderApprovals } from "./policy_page.tsx";

export const showApprovals = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => await show(c, deps, { user, done: c.req.query("done") }));

/** Field `action`: `add` or `remove` a rule, or set whether `assistants` may approve. Only the owner may. */
export const postApprovals = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const policy = await readPolicy(c, deps, user);
    if (!policy) throw noPage();
    if (!policy.may_change) throw notAllowed();
    const asked = { user, form, policy };
    switch (form.get("action")) {
      case "add":
        return await add(c, deps, asked);
      case "remove":
        return await remove(c, deps, asked);
      case "assistants":
        return await turnAssistants(c, deps, asked);
      default:
        throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
  });

interface Asked {
  user: SignedInUser;
  form: Form;
  policy: ApprovalPolicy;
}

const readPolicy = (c: AppContext, { approvals, clock }: PageDeps, user: SignedInUser) =>
  approvals.readPolicy({ userId: user.id, organizationId: organizationOf(c), at: clock() });

async function show(
  c: AppContext,
  deps: PageDeps,
  { user, done, typed }: { user: SignedInUser; done?: string | undefined; typed?: TypedRule },
): Promise<Response> {
  const asked = { userId: user.id, organizationId: organizationOf(c), at: deps.clock() };
  const [waiting, policy] = await Promise.all([deps.approvals.list(asked), deps.approvals.readPolicy(asked)]);
  if (!waiting) throw noPage();
  return await renderApprovals(c, deps, { user, waiting, policy, done, typed });
}

async function add(c: AppContext, deps: PageDeps, { user, form, policy }: Asked): Promise<Response> {
  const { words: { approvalPolicy: { problems: words } }, catalog } = c.get("reader");
  const tools = Object.keys(catalog.approvals.writes);
  const read = readRule(form, { tools, currency: policy.base_currency, words });
  if ("typed" in read) return await show(c, deps, { user, typed: read.typed });
  if (policy.rules.some((rule) => keyOf(rule) === keyOf(read.rule))) return back(c, "added");
  const answer = await change(c, deps, { user, rules: [...policy.rules.map(withoutId), read.rule] });
  if (answer.outcome === "changed") return back(c, "added");
  const { rule } = read;
  const typed = {
    tool: rule.tool ?? "any",
    over: rule.over ?? "",
    records: rule.over_records === null ? "" : String(rule.over_records),
    roles: rule.roles,
    approver: rule.approver,
    problems: answer.outcome === "too_many" ? { tool: words.tooMany(answer.most) } : { over: words.over },
  };
  return await show(c, deps, { user, typed });
}

/** Removing a rule twice succeeds. */
async function remove(c: AppContext, deps: PageDeps, { user, form, policy }: Asked): Promise<Response> {
  const rules = policy.rules.filter((rule) => keyOf(rule) !== form.get("rule"));
  if (rules.length < policy.rules.length) await change(c, deps, { user, rules: rules.map(withoutId) });
  return back(c, "removed");
}

async function turnAssistants(c: AppContext, deps: PageDeps, { user, form, policy }: Asked): Promise<Response> {
  const on = form.get("may_approve") === "on";
  await change(c, deps, { user, rules: policy.rules.map(withoutId), assistantsMayApprove: on });
  return back(c, on ? "assistants_on" : "assistants_off");
}

async function change(
  c: AppContext,
  deps: PageDeps,
  { user, rules, assistantsMayApprove }: { user: SignedInUser; rules: NewRule[]; assistantsMayApprove?: boolean },
) {
  const policy = await readPolicy(c, deps, user);
  const answer = await deps.approvals.changePolicy({
    userId: user.id,
    organizationId: organizationOf(c),
    rules,
    assistantsMayApprove: assistantsMayApprove ?? policy?.assistants_may_approve ?? false,
    at: deps.clock(),
  });
  if (answer.outcome === "not_allowed") throw notAllowed();
  if (answer.outcome === "unknown") throw noPage();
  if (answer.outcome === "busy") throw booksBusy();
  return answer;
}

/** Another write holds the books lock for longer than a page waits. */
export const booksBusy = () =>
  new AppError("unavailable", "the books are being written to", {
    says: ({ booksBusy }) => booksBusy,
    headers: { "retry-after": "5" },
  });

const withoutId = ({ id: _, ...rule }: ApprovalPolicy["rules"][number]): NewRule => rule;

const back = (c: AppContext, done: PolicyDone) =>
  c.redirect(`${organizationPath(organizationOf(c), "approvals")}?done=${done}`, 303);
