/** The export page, and the reasons why it is unavailable. */
import type { DatevSettings } from "../../../shared/export/datev_settings.ts";
import { download } from "../../functions/auth-callback/export_harness.ts";
import { signIn } from "../../functions/auth-callback/harness.ts";
import { EMAIL, LONG, ORGANIZATION_STATE, page, RIGHT_TO_LEFT, signedIn, type State, UNBROKEN } from "./state.ts";

const PATH = "/organizations/org_000000000001/export";

const opened = (organization: string) => ({
  open_export: { outcome: "ok", organization: { name: organization, today: "2026-11-20", state: ORGANIZATION_STATE } },
});

const exporting = (name: string, organization: string): State =>
  signedIn(`export-${name}`, PATH, { answers: opened(organization) });

const withoutPayments = page(
  "export-without-payments",
  async ({ pages }) => await download((await signIn(pages, EMAIL)).browser, PATH, "payments"),
  { answers: { ...opened("Home"), read_export: { outcome: "ok", page: { rows: [], next: null } } } },
);

const notClosed = page(
  "export-not-closed",
  async ({ pages }) =>
    await download((await signIn(pages, EMAIL)).browser, PATH, "payments", { period: "last_month", as: "folder" }),
  { answers: opened("Home") },
);

const CATEGORIES = ["Food", "Travel", LONG, RIGHT_TO_LEFT, UNBROKEN.slice(0, 60)].map((name, place) => ({
  id: `cat_00000000000${place}`,
  name,
  archived_at: place === 1 ? "2026-10-01T10:00:00Z" : null,
}));
const SETTINGS: DatevSettings = {
  ...{ consultant: 29098, client: 55003, chart: "03", year_starts: 1, paid_from: "1200", locks: true },
  ...{ tax_keys: { 19: "9" }, accounts: { cat_000000000000: "4650", cat_000000000003: "4900" } },
};
const withDatev = (datev: DatevSettings | null, more = {}) => ({
  open_export: {
    outcome: "ok",
    organization: {
      ...{ name: "Home", today: "2026-11-20", state: ORGANIZATION_STATE },
      ...{ base_currency: "EUR", datev, may_change: true, ...more },
    },
  },
  read_export: { outcome: "ok", page: { rows: CATEGORIES, next: null, latest_change: null } },
});
const datev = (name: string, answers: Record<string, unknown>, query = ""): State =>
  signedIn(`datev-${name}`, `${PATH}/datev${query}`, { answers });
const datevProblems = page(
  "datev-problems",
  async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = await (await browser.get(`${PATH}/datev`)).text();
    return await browser.submit(form, "consultant", { consultant: "12", client: "", account_cat_000000000002: "1;2" });
  },
  { answers: withDatev(null) },
);

const refused = (outcome: "refused" | "unknown"): State =>
  signedIn(`export-${outcome}`, PATH, { answers: { open_export: { outcome } } });

export const EXPORT_STATES: readonly State[] = [
  exporting("offered", "Home"),
  exporting("long", LONG),
  exporting("unbroken", UNBROKEN),
  exporting("right-to-left", RIGHT_TO_LEFT),
  withoutPayments,
  notClosed,
  signedIn("export-datev", PATH, { answers: withDatev(SETTINGS) }),
  datev("unset", withDatev(null)),
  datev("set", withDatev(SETTINGS), "?done=saved"),
  datev("clearing", withDatev({ ...SETTINGS, clearing: "1590" }, { base_currency: "CHF" })),
  datev("viewer", withDatev(SETTINGS, { may_change: false })),
  datev("viewer-unset", withDatev(null, { may_change: false })),
  datevProblems,
  refused("refused"),
  refused("unknown"),
];
