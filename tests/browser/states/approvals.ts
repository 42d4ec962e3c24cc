/** The approval pages: rules, pending proposals, and a proposal in each state. */
import type { EffectFacts } from "../../../shared/words/facts.ts";
import type { ApprovalPolicy, ListedProposal, Proposal, Proposals } from "../../../shared/approvals/proposal.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import {
  EMAIL,
  HOSTILE,
  LONG,
  LONG_ADDRESS,
  ORGANIZATION_STATE,
  page,
  RIGHT_TO_LEFT,
  type State,
  UNBROKEN,
} from "./state.ts";

const ID = "org_home00000000";
const PROPOSAL = "prop_000000000001";
const ME = "00000000-0000-4000-8000-000000000001";

const lunch = (name: string, number: number): EffectFacts => ({
  id: `exp_00000000000${number}`,
  subject: { kind: "expense", name },
  verb: "deleted",
  fields: [
    { field: "amount_minor", before: { amount: "14.50", currency: "EUR" } },
    { field: "paid_on", before: "2026-11-19" },
    { field: "category_id", before: { category: "Groceries" } },
  ],
});
const rent: EffectFacts = {
  id: "bill_000000000001",
  subject: { kind: "expense", name: "Rent" },
  fields: [
    {
      field: "amount_minor",
      before: { amount: "900.00", currency: "EUR" },
      after: { amount: "1250.00", currency: "EUR" },
    },
    { field: "autopay", before: false, after: true },
  ],
};

const pending: Proposal = {
  id: PROPOSAL,
  organization: { id: ID, name: "Home" },
  country: "DE",
  timezone: "Europe/Berlin",
  hash: "a".repeat(64),
  state: "pending",
  tool: "delete_records",
  facts: {},
  effects: [lunch("Lunch", 1), lunch(LONG, 2), lunch(RIGHT_TO_LEFT, 3)],
  effects_count: 12,
  reasons: [
    { reason: "records", limit: 5, records: 12, approver: "owner" },
    { reason: "amount", limit: "200.00", currency: "EUR", total: "231.50", approver: "owner" },
  ],
  proposer: "ben@example.com",
  is_mine: false,
  client_name: "Claude",
  created_at: "2026-11-20T09:00:00Z",
  expires_at: "2026-11-27T09:00:00Z",
  approver: "manager",
  asked: [EMAIL, "anna@example.com"],
  may_decide: true,
  may_withdraw: false,
  decided_by: null,
  decided_at: null,
  decided_through: null,
  change_id: null,
  problem: null,
};
const decided = { decided_by: "anna@example.com", decided_at: "2026-11-20T09:30:00Z", may_decide: false } as const;
const mine = { proposer: EMAIL, is_mine: true } as const;

const PROPOSALS: Record<string, Proposal> = {
  "asked": pending,
  "change": {
    ...pending,
    tool: "update_bill",
    effects: [rent],
    effects_count: 1,
    reasons: [{
      reason: "unconvertible",
      limit: "200.00",
      currency: "EUR",
      currencies: ["XAU", "VED"],
      approver: "owner",
    }],
    client_name: null,
  },
  "hostile": {
    ...pending,
    organization: { id: ID, name: HOSTILE },
    tool: "log_expenses",
    effects: [lunch(HOSTILE, 1), lunch(UNBROKEN, 2)],
    effects_count: 2,
    client_name: HOSTILE,
    proposer: LONG_ADDRESS,
    asked: [LONG_ADDRESS],
    reasons: [{ reason: "any", approver: "owner" }],
  },
  "file": {
    ...pending,
    tool: "import_expenses",
    facts: { count: 1200, totals_by_currency: { EUR: "14500.00", JPY: "90000" } },
    effects: [],
    effects_count: 0,
    reasons: [{ reason: "any", approver: "owner" }],
  },
  "sole": { ...pending, ...mine, asked: [EMAIL], may_withdraw: true },
  "own": { ...pending, ...mine, asked: ["anna@example.com"], may_decide: false, may_withdraw: true },
  "others": { ...pending, approver: "owner", asked: ["anna@example.com"], may_decide: false },
  "approved": { ...pending, ...decided, state: "approved", decided_through: "page", change_id: "chg_1" },
  "approved-by-assistant": {
    ...pending,
    ...decided,
    state: "approved",
    decided_through: "assistant",
    change_id: "chg_1",
  },
  "refused": { ...pending, ...decided, state: "refused", decided_through: "page", decided_by: null },
  "withdrawn": { ...pending, ...decided, ...mine, state: "withdrawn", decided_through: "page" },
  "disconnected": { ...pending, ...decided, ...mine, state: "withdrawn", decided_through: null },
  "expired": { ...pending, state: "expired", may_decide: false },
  "stale": { ...pending, ...decided, state: "stale", problem: "not_decided.stale" },
  "failed": { ...pending, ...decided, state: "stale", problem: "not_found.expense" },
  "proposer-gone": { ...pending, ...decided, state: "stale", problem: "proposer_gone", proposer: null, effects: [] },
};

const listed = ({ hash: _, effects, ...proposal }: Proposal): ListedProposal => ({
  ...proposal,
  effects: effects.slice(0, 3),
});
const WAITING: Proposals = {
  id: ID,
  name: "Home",
  state: ORGANIZATION_STATE,
  country: "DE",
  timezone: "Europe/Berlin",
  proposals: [pending, PROPOSALS.hostile!, PROPOSALS.change!, PROPOSALS.approved!, PROPOSALS.stale!].map(listed),
};
const POLICY: ApprovalPolicy = {
  id: ID,
  name: "Home",
  country: "DE",
  base_currency: "EUR",
  may_change: true,
  assistants_may_approve: false,
  rules: [
    {
      id: "rule_1",
      tool: null,
      roles: ["member"],
      over: "200.00",
      currency: "EUR",
      over_records: null,
      approver: "manager",
    },
    {
      id: "rule_2",
      tool: "delete_records",
      roles: ["member", "manager"],
      over: null,
      currency: null,
      over_records: 5,
      approver: "owner",
    },
    {
      id: "rule_3",
      tool: "import_expenses",
      roles: ["owner", "manager", "member"],
      over: null,
      currency: null,
      over_records: null,
      approver: "manager",
    },
    {
      id: "rule_4",
      tool: null,
      roles: ["manager"],
      over: "20000",
      currency: "JPY",
      over_records: 50,
      approver: "owner",
    },
  ],
};
const NONE: Proposals = { ...WAITING, proposals: [] };

/** A page that `ME` opens, or the result of a click if fields are given. */
const visit = (name: string, path: string, answers: Record<string, unknown>, fields?: Record<string, string>): State =>
  page(name, async ({ pages }) => {
    pages.provider.users.set(EMAIL, { id: ME, email: EMAIL });
    const { browser } = await signIn(pages, EMAIL);
    const headers = { "accept-language": "de-DE" };
    const response = await browser.get(path, headers);
    if (!fields) return response;
    return await browser.submit(await response.text(), 'value="add"', fields);
  }, { answers });

const policy = (name: string, read_proposals: Proposals, policy: ApprovalPolicy | null, more: {
  query?: string;
  fields?: Record<string, string>;
} = {}) =>
  visit(
    `approvals-${name}`,
    `/organizations/${ID}/approvals${more.query ?? ""}`,
    { read_proposals, read_approval_policy: policy },
    more.fields,
  );
const proposal = (name: string, shown: Proposal, query = "") =>
  visit(`proposal-${name}`, `/account/approvals/${PROPOSAL}${query}`, {
    read_proposal: { outcome: "found", proposal: shown, state: ORGANIZATION_STATE },
  });

export const APPROVAL_STATES: readonly State[] = [
  policy("none", NONE, { ...POLICY, rules: [] }),
  policy("owner", WAITING, POLICY, { query: "?done=added" }),
  policy("manager", WAITING, { ...POLICY, may_change: false, assistants_may_approve: true }),
  policy("manager-none", NONE, { ...POLICY, may_change: false, rules: [], base_currency: "JPY" }),
  policy("member", { ...WAITING, name: RIGHT_TO_LEFT, proposals: [listed(PROPOSALS.own!)] }, null),
  policy("refused", NONE, POLICY, { fields: { tool: "", over: "two hundred", records: "-1", role_member: "" } }),
  ...Object.entries(PROPOSALS).map(([name, shown]) => proposal(name, shown)),
  proposal("already", PROPOSALS.refused!, "?news=already"),
  proposal("changed", pending, "?news=changed"),
  proposal("not-allowed", PROPOSALS.others!, "?news=not_allowed"),
  visit("proposal-unknown", `/account/approvals/${PROPOSAL}`, { read_proposal: { outcome: "unknown" } }),
];
