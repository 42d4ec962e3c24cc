/** The activity page, and a change with its effects. */
import type { EffectFacts } from "../../../shared/words/facts.ts";
import type { Activity, ActivityPage } from "../../../shared/db/activity_store.ts";
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
  UNBROKEN,
} from "./state.ts";

const ID = "org_home00000000";
const LIST = `/account/activity?organization=${ID}`;
const CHANGE = `${LIST}&change=chg_000000000001`;

const added = (name: string, number: number): EffectFacts => ({
  id: `exp_00000000000${number}`,
  subject: { kind: "expense", name },
  verb: "added",
  fields: [
    { field: "amount_minor", after: { amount: "14.50", currency: "EUR" } },
    { field: "paid_on", after: "2026-11-19" },
  ],
});
const logged = (...names: string[]) => ({
  tool: "log_expenses",
  facts: {
    count: names.length,
    written: names.map((name) => ({ name, is_refund: false })),
    totals_by_currency: { EUR: "14.50" },
  },
});

const change: Activity = {
  id: "chg_000000000001",
  at: "2026-11-20T09:00:00Z",
  change: logged("Lunch"),
  tool: "log_expenses",
  by: EMAIL,
  is_automatic: false,
  client_name: "Claude",
  is_emptied: false,
  undone_by: null,
  undoes: null,
  proposal_id: null,
  approved_by: null,
  effects: [added("Lunch", 1)],
  effects_count: 1,
};

const CHANGES: Activity[] = [
  change,
  {
    ...change,
    id: "chg_000000000002",
    change: logged(LONG, RIGHT_TO_LEFT, HOSTILE, UNBROKEN, "Tea", "Bus"),
    by: LONG_ADDRESS,
    client_name: HOSTILE,
    effects: [added(LONG, 2), added(RIGHT_TO_LEFT, 3), added(HOSTILE, 4), added(UNBROKEN, 5)],
    effects_count: 6,
  },
  { ...change, id: "chg_000000000003", undone_by: "chg_000000000004", client_name: null },
  {
    ...change,
    id: "chg_000000000004",
    change: { tool: "undo_change", facts: { verb: "undid", change: logged("Lunch") } },
    tool: "undo_change",
    undoes: "chg_000000000003",
  },
  { ...change, id: "chg_000000000005", proposal_id: "prop_000000000001", approved_by: "anna@example.com" },
  {
    ...change,
    id: "chg_000000000006",
    at: "2026-09-20T09:00:00Z",
    change: { tool: "delete_records", facts: {} },
    tool: "delete_records",
    by: null,
    is_emptied: true,
    effects: [],
  },
];

const found: ActivityPage = {
  outcome: "found",
  organizations: [{ id: ID, name: "Home" }],
  organization: { id: ID, name: "Home" },
  country: "DE",
  timezone: "Europe/Berlin",
  state: ORGANIZATION_STATE,
  may_write: true,
  changes: CHANGES,
  next: "12",
  reads: [
    { day: "2026-11-20", by: EMAIL, client_name: "Claude", count: 12_400 },
    { day: "2026-11-20", by: LONG_ADDRESS, client_name: HOSTILE, count: 1 },
    { day: "2026-11-19", by: null, client_name: null, count: 2 },
  ],
  people: [{ id: crypto.randomUUID(), name: EMAIL }, { id: crypto.randomUUID(), name: LONG_ADDRESS }],
  apps: ["Claude", HOSTILE],
  events: [
    { at: "2026-11-20T09:00:00Z", event: "grant.created", by: EMAIL, detail: { client_name: "Claude" } },
    {
      at: "2026-11-20T08:00:00Z",
      event: "grant.revoked",
      by: LONG_ADDRESS,
      detail: { reason: "refresh_token_replayed" },
    },
    { at: "2026-11-19T08:00:00Z", event: "payment.activated", by: null, detail: {} },
    { at: "2026-11-18T09:00:00Z", event: "provider.refused", by: null, detail: {} },
    { at: "2026-11-18T08:00:00Z", event: "something.new_here", by: null, detail: {} },
  ],
};
const nothing: ActivityPage = { ...found, changes: [], next: null, reads: [], events: [], apps: [] };

const state = (name: string, path: string, answer: ActivityPage): State =>
  page(
    `activity-${name}`,
    async ({ pages }) => await (await signIn(pages, EMAIL)).browser.get(path),
    { answers: { read_activity: answer, note_sign_in: { onboarded: true } } },
  );

/** After Undo was clicked on the page of a change. */
const refused = (name: string, code: string, params: object = {}): State =>
  page(
    `activity-${name}`,
    async ({ pages }) => {
      const { browser } = await signIn(pages, EMAIL);
      return await browser.submit(await (await browser.get(CHANGE)).text(), 'name="change"', {});
    },
    {
      answers: {
        read_activity: one(change),
        note_sign_in: { onboarded: true },
        run_page_tool: { outcome: "ok", result: { ok: false, error: { code, params } } },
      },
    },
  );
const one = (shown: Activity): ActivityPage => ({ ...found, changes: [shown], next: null });

export const ACTIVITY_STATES: readonly State[] = [
  state("list", LIST, found),
  state("list-filtered", `${LIST}&q=Lunch&tool=log_expenses`, { ...found, changes: [change], next: null }),
  state("list-none-found", `${LIST}&q=Zebra`, nothing),
  state("list-empty", LIST, nothing),
  state("list-viewer", LIST, {
    ...found,
    state: { ...ORGANIZATION_STATE, owner: "anna@example.com", is_owner: false, writes: false },
    may_write: false,
    events: null,
  }),
  state("list-deleting", LIST, { ...found, state: DELETING, may_write: false }),
  state("change-deleting", CHANGE, { ...one(change), state: DELETING, may_write: false }),
  state("list-several", LIST, {
    ...found,
    organizations: [...found.organizations, { id: "org_work00000000", name: LONG }],
  }),
  state("change", CHANGE, one(change)),
  state("change-large", CHANGE, one({ ...CHANGES[1]!, effects_count: 1200 })),
  state("change-undone", CHANGE, one(CHANGES[2]!)),
  state("change-just-undone", `${CHANGE}&done=undone`, one(CHANGES[3]!)),
  state("change-emptied", CHANGE, one(CHANGES[5]!)),
  refused("conflict", "undo_conflict.changed_since", {
    details: { rows: [{ id: "exp_1", subject: { kind: "expense", name: HOSTILE } }] },
  }),
  refused("busy", "busy"),
];
