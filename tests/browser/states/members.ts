/** The pages of members, invitations, hand-over and further organizations. */
import type { Members, OpenInvitation, Removal, ShownInvitation } from "../../../shared/db/members_store.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import {
  DELETING,
  EMAIL,
  HOSTILE,
  LONG,
  LONG_ADDRESS,
  ORGANIZATION_STATE,
  page,
  RIGHT_TO_LEFT,
  type State,
} from "./state.ts";

const ID = "org_home00000000";
const ME = "00000000-0000-4000-8000-000000000001";
const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const anna: Members["members"][number] = {
  user_id: uuid(2),
  email: "anna@example.com",
  role: "manager",
  sees_private: false,
  may_change: true,
};
const invitation: OpenInvitation = {
  id: "inv_000000000001",
  address: "guest@example.com",
  role: "member",
  expires_at: "2026-11-27T10:00:00Z",
  is_expired: false,
  may_change: true,
};
const handover = { id: uuid(9), from: EMAIL, to: anna.email, to_me: false, expires_at: "2026-11-27T10:00:00Z" };
const me = { ...anna, user_id: ME, email: EMAIL, role: "owner", may_change: false } as const;

const MEMBERS: Record<string, Members> = {
  "owner": {
    id: ID,
    name: "Home",
    role: "owner",
    may_manage: true,
    state: ORGANIZATION_STATE,
    may_grow: true,
    country: "DE",
    members: [
      me,
      anna,
      { ...anna, user_id: uuid(3), email: "ben@example.com", role: "member" },
      { ...anna, user_id: uuid(4), email: "books@accountant.example", role: "viewer", sees_private: true },
      { ...anna, user_id: uuid(5), email: LONG_ADDRESS, role: "viewer" },
    ],
    invitations: [invitation, { ...invitation, id: "inv_000000000002", address: LONG_ADDRESS, is_expired: true }],
    handover,
  },
  "alone": {
    id: ID,
    name: LONG,
    role: "owner",
    may_manage: true,
    state: ORGANIZATION_STATE,
    may_grow: false,
    country: "DE",
    members: [me],
    invitations: [],
    handover: null,
  },
  "member": {
    id: ID,
    name: RIGHT_TO_LEFT,
    role: "member",
    may_manage: false,
    state: { ...ORGANIZATION_STATE, owner: "anna@example.com", is_owner: false },
    may_grow: true,
    country: "DE",
    members: [{ ...anna, role: "owner", may_change: false }, { ...me, role: "member" }],
    invitations: [],
    handover: { ...handover, from: anna.email, to: EMAIL, to_me: true },
  },
};

const shown: ShownInvitation = {
  outcome: "open",
  organization_id: ID,
  organization_name: "Home",
  inviter: "anna@example.com",
  role: "viewer",
  expires_at: "2026-11-27T10:00:00Z",
  address: EMAIL,
  onboarded: true,
};
const removal: Removal = {
  state: ORGANIZATION_STATE,
  organization_name: "Home",
  email: "ben@example.com",
  country: "DE",
  timezone: "Europe/Berlin",
  balances: [
    { owes: false, who: "anna@example.com", amount: "45.00", currency: "EUR" },
    { owes: true, who: null, amount: "1200", currency: "JPY" },
  ],
  waiting: [{
    id: "prop_000000000001",
    tool: "log_expenses",
    facts: {},
    effects: [{ id: "exp_1", subject: { kind: "expense", name: "Lunch" } }],
    effects_count: 3,
    created_at: "2026-11-19T10:00:00Z",
  }],
  assigned: 2,
  apps: 1,
  has_calendar: true,
  imports: 1,
  links: 3,
  proposals: 1,
  invitations: 1,
};

/** A page for the person whose id is `ME`. */
const visit = (name: string, path: string, answers: Record<string, unknown>, fields?: Record<string, string>): State =>
  page(name, async ({ pages }) => {
    pages.provider.users.set(EMAIL, { id: ME, email: EMAIL });
    const { browser } = await signIn(pages, EMAIL);
    const headers = { "accept-language": "de-DE" };
    if (!fields) return await browser.get(path, headers);
    const html = await (await browser.get(path, headers)).text();
    return await browser.submit(html, 'value="invite"', fields);
  }, { answers });

const LINK = `/invitation?t=exp_inv_${"A".repeat(43)}`;
const invited = (name: string, answer: unknown) => visit(`invitation-${name}`, LINK, { read_invitation: answer });

export const MEMBERS_STATES: readonly State[] = [
  ...Object.entries(MEMBERS).map(([name, read_members]) =>
    visit(`members-${name}`, `/organizations/${ID}/members${name === "owner" ? "?done=invited" : ""}`, { read_members })
  ),
  visit("members-deleting", `/organizations/${ID}/members`, {
    read_members: {
      ...MEMBERS.owner!,
      may_manage: false,
      state: DELETING,
      members: MEMBERS.owner!.members.map((member) => ({ ...member, may_change: false })),
      invitations: [],
      handover: null,
    },
  }),
  visit("members-refused", `/organizations/${ID}/members`, { read_members: MEMBERS.owner }, { address: HOSTILE }),
  visit("members-remove", `/organizations/${ID}/members/remove?member=${uuid(3)}`, { read_removal: removal }),
  visit("members-leave", `/organizations/${ID}/members/remove?member=${ME}`, {
    read_removal: {
      ...removal,
      balances: [],
      waiting: [],
      assigned: 1,
      links: 0,
      proposals: 0,
      imports: 0,
      invitations: 0,
    },
  }),
  visit("members-hand-over", `/organizations/${ID}/hand-over`, { read_members: MEMBERS.owner }),
  visit("members-hand-over-alone", `/organizations/${ID}/hand-over`, { read_members: MEMBERS.alone }),
  visit("members-hand-over-deleting", `/organizations/${ID}/hand-over`, {
    read_members: { ...MEMBERS.owner!, state: DELETING },
  }),
  invited("open", shown),
  invited("hostile", { ...shown, organization_name: HOSTILE, role: "manager" }),
  invited("other", { outcome: "for_another", masked_address: "g…@e….com" }),
  invited("expired", { ...shown, outcome: "expired" }),
  invited("fresh", { ...shown, onboarded: false }),
  page("invitation-visitor", ({ browser }) => browser.get(LINK, { "accept-language": "de-DE" }), {
    answers: { read_invitation: { ...shown, onboarded: false } },
  }),
  page("invitation-visitor-known", ({ browser }) => browser.get(LINK), { answers: { read_invitation: shown } }),
  page("invitation-visitor-expired", ({ browser }) => browser.get(LINK), {
    answers: { read_invitation: { ...shown, outcome: "expired" } },
  }),
  visit("organization-new", "/organizations/new", {
    read_new_organization: { country: "DE", gets_trial: false, currencies: ["CHF", "EUR", "USD"] },
  }),
];
